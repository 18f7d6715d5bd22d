/** A hook that throws is a bug. It ends the process loudly, and it neither fails the write that is kept nor stops the queue. */
export function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
