/** Runs a commit hook. One that throws is a bug: it ends the process as an uncaught exception, without failing the committed write or stopping the queue. */
export function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
