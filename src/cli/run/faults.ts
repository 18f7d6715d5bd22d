/** EX_SOFTWARE of sysexits.h: the program itself failed. */
export const faultExitCode = 70

/** Time for an orderly end after a fault. */
const endMaxMs = 10_000

/** The part of the process that the handler of uncaught faults uses. */
interface FaultProcess {
  on(event: 'uncaughtException', listener: (error: unknown, origin: string) => void): unknown
  exit(code: number): never
}

/**
 * Ends the process in good order after an exception or a rejected promise that nothing caught. Node reports both as
 * `uncaughtException`. Each is logged as one JSON line and counted. The first calls `end`; when that takes too long, the process
 * exits. Returns the count.
 */
export function endOnFault(
  process: FaultProcess,
  { log, end }: { log: (line: string) => void; end: () => void },
): { readonly count: () => number } {
  let count = 0
  process.on('uncaughtException', (error, origin) => {
    if (isAnswerToReset(error)) return
    count++
    log(
      `${JSON.stringify({ level: 'fatal', time: new Date().toISOString(), msg: 'process.failed', origin, count, err: described(error) })}\n`,
    )
    if (count > 1) return
    setTimeout(() => process.exit(faultExitCode), endMaxMs).unref()
    end()
  })
  return { count: () => count }
}

/**
 * The gRPC library refuses a call of no method with an answer, and does not look whether the client has reset the call meanwhile. Nothing
 * is left undone then.
 */
function isAnswerToReset(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP2_INVALID_STREAM'
}

function described(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  return { type: error.name, message: error.message, stack: error.stack }
}
