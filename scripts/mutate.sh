#!/usr/bin/env bash
# Tests the tests: changes the rules of the two machines and the contract in small ways (PIT) and counts which changes no unit
# test notices. For people, not for CI; some 15 minutes on two cores. Arguments go to Maven, such as -DtargetClasses='…Plan*'.
# Reports: {schemas,kafka,agent-service,reflection-service}/target/pit-reports/index.html; docs/promises.md has the score.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
./mvnw -pl schemas,kafka,agent-service,reflection-service -am -Dspotless.check.skip=true -Dthreads=2 "$@" \
    test-compile org.pitest:pitest-maven:mutationCoverage
for module in schemas kafka agent-service reflection-service; do
    awk -v module="$module" '
        { n = split($0, part, /<mutation /); for (i = 2; i <= n; i++) if (match(part[i], /status=.[A-Z_]+/)) {
            status = substr(part[i], RSTART + 8, RLENGTH - 8); count[status]++; all++ } }
        END { killed = count["KILLED"] + count["TIMED_OUT"]
              printf "%-20s %4d mutants, %4d noticed (%d %%), %d not, %d in lines that no test runs\n", module, all,
                  killed, 100 * killed / all, count["SURVIVED"], count["NO_COVERAGE"] }' \
        "$module/target/pit-reports/mutations.xml"
done
