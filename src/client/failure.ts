import { detailFor } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'

/** The exit codes that scripts rely on: docs/cli.md has the same table. */
export const exitCodes = {
  ok: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  /** It was carried out, and did not succeed. */
  unsuccessful: 4,
  /** The task asks its originator something. */
  asks: 5,
  interrupted: 130,
  terminated: 143,
} as const

/** The command line itself is wrong. */
export class UsageError extends Error {}

/** The key of a call: where it came from, and whose it is where the gateway said so. */
export interface KeyUse {
  /** `ROUSE_KEY`, `--key-file donna.key`, `profile work` */
  readonly source: string
  /** `@donna` */
  readonly identity?: string | undefined
}

/** The gateway refused. `keyUse` is set when it refused because of the key. */
export class Refused extends Error {
  readonly problem: JsonObject
  readonly keyUse: KeyUse | undefined

  constructor(problem: JsonObject, keyUse?: KeyUse) {
    super(String(problem.title ?? 'The gateway refused the request'))
    this.problem = problem
    this.keyUse = keyUse
  }

  /** The refusal and its remedy, for a person at a terminal. */
  get explanation(): string {
    return detailFor(this.problem, ({ cli }) => cli)
  }
}

/** True for what the key may not see, or what is not there. */
export const isHidden = (error: unknown): boolean =>
  error instanceof Refused && [403, 404].includes(Number(error.problem.status))

/** True when the gateway is at fault, or its store: it proves nothing about what was asked. */
export const isFault = (error: unknown): boolean => error instanceof Refused && Number(error.problem.status) >= 500

/** Nothing answered at the gateway's address. */
export class Unreachable extends Error {
  constructor(url: string, reason: string) {
    super(
      `No gateway answers at ${url} (${reason})${otherProtocol(url, reason)}.\n` +
        '  Start one in another terminal:  rouse serve\n' +
        '  Or name another address:        --url <url>, or the environment variable ROUSE_URL',
    )
  }
}

/** Says what an address speaks that has answered, and not as a gateway does. */
function otherProtocol(url: string, reason: string): string {
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER') return `: it speaks no TLS, so try ${url.replace(/^https/, 'http')}`
  return reason.startsWith('HPE_')
    ? ': it speaks another protocol. The port of gRPC, for example, is not that of HTTP'
    : ''
}

/** The result that was printed says what is wrong: nothing more is. */
export class Reported extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('The result says what is wrong')
    this.exitCode = exitCode
  }
}

/** Ctrl-C or SIGTERM. */
export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`Interrupted by ${signal}`)
    this.exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
  }
}
