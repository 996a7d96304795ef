/** Something that was asked of Millrace did not come about; the subclasses say in which way. */
export class MillraceError extends Error {
  constructor(message, options) {
    super(message, options)
    this.name = new.target.name
  }
}

/** Nobody answered, or the connection broke: whether the request was taken is not known. */
export class UnreachableError extends MillraceError {}

/** The gateway answered, and the answer was no (RFC 9457). */
export class RequestRefusedError extends MillraceError {
  constructor(status, code, message, retryAfter) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** A task that was waited for has failed. */
export class TaskFailedError extends MillraceError {
  constructor(taskId, code, error) {
    super(`Task ${taskId} failed: ${error} (${code})`)
    this.taskId = taskId
    this.code = code
  }
}

/** A task that was waited for was cancelled. */
export class TaskCancelledError extends MillraceError {
  constructor(taskId, reason) {
    super(`Task ${taskId} was cancelled${reason ? `: ${reason}` : ''}`)
    this.taskId = taskId
  }
}

/** A task that was waited for has not ended in that time. It goes on. */
export class TaskNotDoneError extends MillraceError {
  constructor(taskId, limitMs) {
    super(`Task ${taskId} did not end within ${limitMs} ms. It goes on.`)
    this.taskId = taskId
  }
}
