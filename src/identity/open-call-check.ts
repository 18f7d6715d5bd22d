import type { Sweep } from '../lib/sweeper.ts'
import type { Base } from '../log/core.ts'
import { findNames } from '../registry/agents/agent-store.ts'
import { findLiveKeys } from '../registry/callers/api-key-store.ts'
import { findLiveOperatorKeys } from '../registry/callers/operator-key-store.ts'
import { findRevokedTokens } from '../registry/callers/revoked-token-store.ts'
import type { Reader } from '../storage/database.ts'
import type { OpenCaller, OpenCalls } from './open-calls.ts'

/** How many ids are kept until they are looked up. What comes beyond that, the check of every minute finds. */
const saidMax = 10_000

const everyMs = 60_000

/**
 * Checks whether the keys of open calls are still valid, and ends the calls of those that are not: a message of another gateway
 * that revoked a key may be lost, and the clock may have been set forward.
 */
export class OpenCallCheck implements AsyncDisposable {
  readonly #core: Base
  readonly #openCalls: OpenCalls
  #checking: Promise<void> | undefined
  #again = false
  #ending: Promise<void> | undefined
  /** Ids that were reported as revoked, and are not looked up yet. */
  readonly #said = new Set<string>()
  #isStopped = false

  constructor(core: Base, openCalls: OpenCalls) {
    this.#core = core
    this.#openCalls = openCalls
  }

  /** The check as a sweep of this gateway. */
  get sweep(): Sweep {
    return {
      name: 'open-calls',
      everyMs,
      firstAfterMs: everyMs,
      run: async () => {
        await this.#check()
        return false
      },
    }
  }

  /** Checks now: a message of another gateway may have been lost. Calls during a check cause one more. */
  checkNow(): void {
    this.#again = true
    this.#checking ??= this.#checkAgain().finally(() => {
      this.#checking = undefined
    })
  }

  /**
   * Ends the calls of those of these keys and agents that the store no longer has. Another gateway has revoked them, or somebody else on the
   * bus says so. Where the store does not answer, their calls end in any case, and may be opened again.
   */
  endIfRevoked(ids: readonly string[]): void {
    for (const id of ids) if (this.#said.size < saidMax) this.#said.add(id)
    this.#ending ??= this.#endSaid().finally(() => {
      this.#ending = undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#checking, this.#ending])
  }

  async #endSaid(): Promise<void> {
    while (this.#said.size > 0 && !this.#isStopped) {
      const ids = [...this.#said]
      this.#said.clear()
      try {
        this.#openCalls.end(await findDead(this.#core.db, ids))
      } catch (error) {
        this.#core.log.warn({ err: error }, 'open_calls.unchecked')
        this.#openCalls.interrupt(ids)
      }
    }
  }

  async #checkAgain(): Promise<void> {
    while (this.#again && !this.#isStopped) {
      this.#again = false
      await this.#check().catch((error: unknown) => this.#core.log.warn({ err: error }, 'open_calls.unchecked'))
    }
  }

  async #check(): Promise<void> {
    const callers = this.#openCalls.keys()
    this.#openCalls.endExpired()
    const dead = [
      ...(await this.#deadAmong(callers.filter(isAgentKey), findLiveKeys)),
      ...(await this.#deadAmong(callers.filter(isOperatorKey), findLiveOperatorKeys)),
      ...(await findRevokedTokens(
        this.#core.db,
        callers.filter(isToken).map(({ keyId }) => keyId),
      )),
    ]
    if (dead.length > 0) this.#openCalls.end(dead)
  }

  async #deadAmong(callers: readonly OpenCaller[], findLive: typeof findLiveKeys): Promise<string[]> {
    if (callers.length === 0) return []
    const keyIds = callers.map(({ keyId }) => keyId)
    const live = new Set(await findLive(this.#core.db, keyIds))
    return keyIds.filter((keyId) => !live.has(keyId))
  }
}

/** Of these keys, tokens and agents, those that were revoked or removed. Other ids, such as that of all operators, are nothing that ends. */
async function findDead(db: Reader, ids: readonly string[]): Promise<string[]> {
  const keyIds = ids.filter(isKeyId)
  const agentIds = ids.filter((id) => id.startsWith('agent_'))
  const [agentKeys, operatorKeys, tokens, agents] = await Promise.all([
    findLiveKeys(db, keyIds),
    findLiveOperatorKeys(db, keyIds),
    findRevokedTokens(db, ids.filter(isTokenId)),
    findNames(db, agentIds),
  ])
  const live = new Set([...agentKeys, ...operatorKeys, ...agents.keys()])
  return [...[...keyIds, ...agentIds].filter((id) => !live.has(id)), ...tokens]
}

/** Stored keys have a ULID as their id. The admin key and tokens are not stored, but revoked tokens are. */
const isKeyId = (id: string): boolean => /^[0-9A-Z]{26}$/.test(id)
const isTokenId = (id: string): boolean => id.startsWith('jwt:')
const isAgentKey = ({ kind, keyId }: OpenCaller): boolean => kind === 'agent' && isKeyId(keyId)
const isOperatorKey = ({ kind, keyId }: OpenCaller): boolean => kind === 'operator' && isKeyId(keyId)
const isToken = ({ keyId }: OpenCaller): boolean => isTokenId(keyId)
