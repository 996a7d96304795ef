"""An approval gate in Python: a processor of events behind the request topic of the toolset "gates".

Lets no message through whose sender has said that it needs a review. All that a processor has beside a tool is
"processes" in its definition; the rest is the worker of ../python, which takes its environment as well.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import worker  # noqa: E402

worker.TOOLSET = "gates"
worker.TOOLS = [
    {
        "name": "review-gate",
        "description": "Holds messages that need a review.",
        "toolset": "gates",
        "timeoutMs": 5000,
        "processes": {"types": ["MESSAGE_RECEIVED"], "required": True},
    }
]


def should_process(event):
    return (event["payload"].get("metadata") or {}).get("needsReview") is True


def process(event):
    return [
        {
            "type": "MESSAGE_RECEIVED",
            "payload": {
                "text": "This message requires a review.",
                # for people only: no agent is given it
                "metadata": {"skipRouting": True, "held": event["id"]},
            },
        }
    ]


def run(name, params, call_id):
    event = params["event"]
    return {"producedEvents": process(event) if should_process(event) else []}


worker.run = run

if __name__ == "__main__":
    worker.main()
