// @ts-check
// Of `rouse install opencode --bridge`, and removed by `rouse uninstall opencode`. It lets the bridge of this user (`rouse bridge`)
// wake the conversation that this OpenCode shows, without a port. It answers no approval and touches no draft.
import { lstatSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'

/** The socket of the bridge. */
const address = 'rouse:address'
const messagePrefix = 'msg_rouse_'
const messagesMax = 50
const reconnectMs = { first: 200, max: 2_000 }
/** The bridge asks every 30 s whether it is there. */
const silenceMs = 90_000
const lineMax = 65_536
const lookMs = 1_000
/** A conversation that is idle for this long with a prompt that has no answer has passed it over. */
const idleMaxMs = 3_000
const absentMaxMs = 20_000

/**
 * @typedef {{ id: string, role: string, parentID?: string, agent?: string, model?: object, error?: unknown, time: { created: number } }} Message
 * @typedef {{ id: string, text: string, lines: string }} Wake
 * @typedef {{ type: string, properties: any }} HarnessEvent
 * @typedef {{ client: any, directory: string }} Input
 */

/** OpenCode calls it once for each directory that it works in, and sometimes twice: the last one counts. */
export const Rouse = async (/** @type {Input} */ { client, directory }) => {
  const key = Symbol.for('rouse.bridge')
  const all = /** @type {any} */ (globalThis)
  /** @type {Map<string, () => void>} */
  const endings = all[key] ?? new Map()
  all[key] = endings
  endings.get(directory)?.()
  const conversation = new Conversation(client, directory)
  endings.set(directory, () => conversation.end())
  conversation.findShown().catch(() => {})
  return {
    event: async (/** @type {{ event: HarnessEvent }} */ { event }) => conversation.note(event),
    'chat.message': async (/** @type {{ sessionID: string }} */ { sessionID }) => conversation.prompted(sessionID),
  }
}

/** Returns the refusal of the vendor in a status, and the time of its next try. Undefined: there is none. */
function retryIn(/** @type {any} */ status) {
  if (status?.type !== 'retry' || typeof status.next !== 'number') return undefined
  return { message: String(status.message ?? '').slice(0, 200), next: status.next }
}

/** The conversation that this OpenCode shows, and the wakes for it. */
class Conversation {
  #client
  #directory
  #bridge
  #hasEnded = false
  /** @type {string | undefined} */
  #shown
  /** The conversations of subagents, and whose they are. @type {Map<string, string | undefined>} */
  #parents = new Map()
  /** @type {Set<string>} */
  #busy = new Set()
  /** When the vendor of the conversation is asked again. @type {{ message: string, next: number } | undefined} */
  #retry
  /** The conversation of each approval and question that is open. @type {Map<string, string>} */
  #asks = new Map()
  /** The conversations and approvals that events have named: what was read before is older. @type {Set<string>} */
  #named = new Set()
  /** The prompts that have no turn yet. @type {Set<string>} */
  #waiting = new Set()
  /** Those whose turn an event has proven. @type {Set<string>} */
  #begun = new Set()

  constructor(/** @type {any} */ client, /** @type {string} */ directory) {
    this.#client = client
    this.#directory = directory
    this.#bridge = new Bridge(
      (wake) => this.#take(wake),
      () => void this.#tellHistory(),
    )
  }

  end() {
    this.#hasEnded = true
    this.#bridge.end()
  }

  /** A terminal that opened an earlier conversation shows it before its user writes. */
  async findShown() {
    const { sessionId, continues } = openedWith()
    if (sessionId) return this.prompted(sessionId)
    if (!continues) return
    const { data } = await this.#client.session.list({ query: { directory: this.#directory } })
    const roots = (data ?? []).filter((/** @type {any} */ one) => !one.parentID && !one.time?.archived)
    roots.sort((/** @type {any} */ a, /** @type {any} */ b) => b.time.updated - a.time.updated)
    if (roots[0] && !this.#shown) await this.prompted(roots[0].id)
  }

  /** The user has written to a conversation: it is the one that is shown, unless it is a subagent's. */
  async prompted(/** @type {string} */ id) {
    if (this.#hasEnded || this.#shown === id) return
    if ((await this.#parentOf(id)) !== undefined) return
    const isFirst = this.#shown === undefined
    this.#shown = id
    if (isFirst) await this.#readState()
    this.#tellState()
    if (!isFirst) await this.#tellHistory()
  }

  note(/** @type {HarnessEvent} */ { type, properties }) {
    const { sessionID, info, status, id, requestID, permissionID } = properties ?? {}
    if (type === 'session.created') this.#parents.set(info.id, info.parentID)
    if (type === 'session.status') this.#noteBusy(sessionID, status?.type !== 'idle')
    if (type === 'session.idle') this.#noteBusy(sessionID, false)
    if (type === 'session.status' && sessionID === this.#shown) this.#retry = retryIn(status)
    if (/^session\.(status|idle)$/.test(type)) this.#named.add(sessionID)
    if (/^(permission|question)\.asked$/.test(type)) this.#asks.set(id, sessionID)
    if (/^(permission|question)\.(replied|rejected)$/.test(type)) {
      this.#asks.delete(requestID ?? permissionID ?? id)
      this.#named.add(requestID ?? permissionID ?? id)
    }
    if (type === 'message.updated' && info?.role === 'assistant' && this.#waiting.has(info.parentID)) {
      this.#begin(info.parentID, info.id)
    }
    if (type === 'session.deleted' && info?.id === this.#shown) {
      this.#shown = undefined
      this.#bridge.attach(undefined)
    }
    this.#tellState()
  }

  #noteBusy(/** @type {string} */ id, /** @type {boolean} */ isBusy) {
    if (isBusy) this.#busy.add(id)
    else this.#busy.delete(id)
  }

  /** Notes the turns and questions that began before this plugin. */
  async #readState() {
    const { data } = await this.#client.session.status().catch(() => ({ data: undefined }))
    for (const [id, status] of Object.entries(data ?? {})) {
      if (!this.#named.has(id)) this.#noteBusy(id, status?.type !== 'idle')
    }
    for (const path of ['/permission', '/question']) {
      const answer = await this.#call('get', path).catch(() => undefined)
      const asks = Array.isArray(answer?.data) ? answer.data : []
      for (const ask of asks) if (!this.#named.has(ask.id)) this.#asks.set(ask.id, ask.sessionID)
    }
  }

  get #state() {
    const isOwn = (/** @type {string} */ id) => id === this.#shown || this.#parents.get(id) === this.#shown
    if ([...this.#asks.values()].some(isOwn)) return 'waitingOnApproval'
    return this.#shown !== undefined && this.#busy.has(this.#shown) ? 'active' : 'idle'
  }

  #tellState() {
    if (this.#hasEnded || this.#shown === undefined) return
    this.#bridge.attach({
      harness: 'opencode',
      conversationId: this.#shown,
      cwd: this.#directory,
      process: { pid: process.pid },
      route: 'plugin',
      state: this.#state,
      ...(this.#retry ? { retry: this.#retry } : {}),
    })
  }

  /** Says of the wakes that the conversation has what became of them: a bridge that was started again asks nobody else. */
  async #tellHistory() {
    const id = this.#shown
    if (id === undefined) return
    const messages = await this.#messages(id).catch(() => [])
    for (const message of messages.filter((one) => one.id.startsWith(messagePrefix))) {
      const progress = progressOf(messages, message.id)
      if (progress === 'waits') this.#follow(id, message.id)
      this.#report(id, message.id, stepOf[progress], `the history: ${progress}`)
    }
  }

  /** Errors: why the wake is not taken; then OpenCode does not have it. */
  async #take(/** @type {Wake} */ wake) {
    const id = this.#shown
    if (this.#hasEnded || id === undefined) throw new Error('no conversation is shown')
    const messageID = `${messagePrefix}${wake.id}`
    if (this.#waiting.has(messageID)) return
    const messages = await this.#messages(id)
    const { data: known } = await this.#client.session.message({ path: { id, messageID } })
    if (known) return this.#follow(id, messageID)
    if (this.#state !== 'idle' || this.#waiting.size > 0) throw new Error(`the conversation is ${this.#state}`)
    const body = { messageID, ...settingsOfLastPrompt(messages), parts: [{ type: 'text', text: wake.lines }] }
    this.#waiting.add(messageID)
    const { error, response } = await this.#client.session.promptAsync({ path: { id }, body })
    if (error || !response?.ok) {
      this.#waiting.delete(messageID)
      throw new Error(`OpenCode refused the prompt with HTTP ${response?.status}`)
    }
    this.#follow(id, messageID)
  }

  #begin(/** @type {string} */ messageID, /** @type {string} */ turnId) {
    this.#waiting.delete(messageID)
    this.#begun.add(messageID)
    if (this.#shown) this.#report(this.#shown, messageID, 'turn_started', 'message.updated: an answer to it', turnId)
  }

  /** Follows a prompt until its turn has begun. One that OpenCode has passed over is taken out of the history. */
  #follow(/** @type {string} */ id, /** @type {string} */ messageID) {
    this.#waiting.add(messageID)
    const startedAt = Date.now()
    let idleAt = 0
    let saidHeld = false
    const timer = setInterval(async () => {
      if (this.#hasEnded || !this.#waiting.has(messageID)) return clearInterval(timer)
      const messages = await this.#messages(id).catch(() => undefined)
      if (messages === undefined || !this.#waiting.has(messageID)) return
      const progress = progressOf(messages, messageID)
      const isIdle = this.#state === 'idle'
      idleAt = isIdle ? idleAt || Date.now() : 0
      if (progress === 'waits' && !isIdle && !saidHeld) {
        saidHeld = true
        this.#report(id, messageID, 'held', 'waits for the running turn')
      }
      if (progress === 'waits' && !(idleAt && Date.now() - idleAt >= idleMaxMs)) return
      if (progress === 'absent' && Date.now() - startedAt < absentMaxMs) return
      if (progress === 'waits' && !(await this.#takeBack(id, messageID))) return
      this.#waiting.delete(messageID)
      clearInterval(timer)
      if (progress === 'waits') this.#report(id, messageID, 'held', `taken back ${Date.now()}`)
      else this.#report(id, messageID, stepOf[progress], `the history: ${progress}`)
    }, lookMs)
    timer.unref?.()
  }

  /** OpenCode refuses that while a turn runs. */
  async #takeBack(/** @type {string} */ id, /** @type {string} */ messageID) {
    const answer = await this.#call('delete', `/session/${id}/message/${messageID}`).catch(() => undefined)
    return answer?.response?.ok === true
  }

  #report(
    /** @type {string} */ conversationId,
    /** @type {string} */ messageID,
    /** @type {string} */ step,
    /** @type {string} */ proof,
    /** @type {string | undefined} */ turnId = undefined,
  ) {
    const wakeId = messageID.slice(messagePrefix.length)
    this.#bridge.say({ type: 'report', wakeId, step, proof, conversationId, ...(turnId ? { turnId } : {}) })
  }

  /** @returns {Promise<Message[]>} */
  async #messages(/** @type {string} */ id) {
    const { data, error } = await this.#client.session.messages({ path: { id }, query: { limit: messagesMax } })
    if (error || !Array.isArray(data)) throw new Error('the messages cannot be read')
    return data.map((/** @type {any} */ { info }) => info)
  }

  async #parentOf(/** @type {string} */ id) {
    if (!this.#parents.has(id)) {
      const { data } = await this.#client.session.get({ path: { id } }).catch(() => ({ data: undefined }))
      this.#parents.set(id, data?.parentID)
    }
    return this.#parents.get(id)
  }

  /** Calls a path that the client has no method for. */
  async #call(/** @type {'get' | 'delete'} */ method, /** @type {string} */ url) {
    const http = this.#client._client ?? this.#client.session._client
    return http?.[method]({ url })
  }
}

/** The connection to the bridge, which comes and goes with it. */
class Bridge {
  #take
  #attached
  /** @type {import('node:net').Socket | undefined} */
  #socket
  /** @type {any} */
  #client
  #isAttached = false
  #pauseMs = reconnectMs.first
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #lastReported = ''

  /** `take`: takes a wake. `attached`: a bridge knows of it now. */
  constructor(/** @type {(wake: Wake) => Promise<void>} */ take, /** @type {() => void} */ attached) {
    this.#take = take
    this.#attached = attached
  }

  /** Says which conversation there is, and what it does; undefined: none. */
  attach(/** @type {any} */ client) {
    this.#client = client
    if (client === undefined) return this.#socket?.destroy()
    if (this.#socket === undefined) return this.#connect()
    const { conversationId, state, retry = null } = client
    const report = JSON.stringify([conversationId, state, retry])
    if (!this.#isAttached || report === this.#lastReported) return
    this.#lastReported = report
    this.say({ type: 'change', conversationId, state, retry })
  }

  say(/** @type {object} */ message) {
    if (this.#socket?.writable) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  end() {
    this.#client = undefined
    clearTimeout(this.#timer)
    this.#socket?.destroy()
  }

  #connect() {
    clearTimeout(this.#timer)
    if (!isPrivate(address)) return this.#connectLater()
    const socket = connect(address)
    let rest = ''
    this.#socket = socket
    socket.unref().setTimeout(silenceMs, () => socket.destroy())
    socket.setEncoding('utf8')
    socket.on('error', () => {})
    socket.on('connect', () => {
      const { conversationId, state } = this.#client ?? {}
      this.#lastReported = JSON.stringify([conversationId, state])
      this.say({ type: 'attach', ...this.#client })
    })
    socket.on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > lineMax) return socket.destroy()
      for (const line of lines) this.#act(line)
    })
    socket.on('close', () => {
      this.#socket = undefined
      this.#isAttached = false
      this.#connectLater()
    })
  }

  #connectLater() {
    if (this.#client === undefined) return
    this.#timer = setTimeout(() => this.#client && this.#connect(), this.#pauseMs)
    this.#timer.unref?.()
    this.#pauseMs = Math.min(reconnectMs.max, this.#pauseMs * 2)
  }

  #act(/** @type {string} */ line) {
    /** @type {any} */
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return this.#socket?.destroy()
    }
    if (message.type === 'ping') this.say({ type: 'pong' })
    if (message.type === 'wake') void this.#answer(message.wake)
    if (message.type !== 'attached') return
    this.#isAttached = true
    this.#pauseMs = reconnectMs.first
    this.attach(this.#client)
    this.#attached()
  }

  async #answer(/** @type {Wake} */ wake) {
    try {
      await this.#take(wake)
      this.say({ type: 'taken', wakeId: wake.id })
    } catch (error) {
      const [reason] = String(error instanceof Error ? error.message : error).split('\n')
      this.say({ type: 'declined', wakeId: wake.id, reason: (reason || 'no reason').slice(0, 500) })
    }
  }
}

/** The progress of a prompt, as the messages of a conversation tell it: only an answer that names it as its parent proves a turn. */
function progressOf(/** @type {Message[]} */ messages, /** @type {string} */ id) {
  const answers = messages.filter(({ role }) => role === 'assistant')
  if (answers.some(({ parentID }) => parentID === id)) return 'turn_started'
  const own = messages.find((message) => message.id === id)
  if (!own) return 'absent'
  const later = messages.filter(({ role, time }) => role === 'user' && time.created > own.time.created)
  const isCarried = answers.some(({ parentID, error }) => !error && later.some((one) => one.id === parentID))
  return isCarried ? 'carried' : 'waits'
}

const stepOf = /** @type {const} */ ({
  turn_started: 'turn_started',
  carried: 'delivered',
  waits: 'held',
  absent: 'unknown',
})

/** The wake is answered by the agent and the model of the last prompt. */
function settingsOfLastPrompt(/** @type {Message[]} */ messages) {
  const [last] = messages.filter(({ role }) => role === 'user').sort((a, b) => b.time.created - a.time.created)
  return { ...(last?.agent ? { agent: last.agent } : {}), ...(last?.model ? { model: last.model } : {}) }
}

/** True when only this user can have made the socket. */
function isPrivate(/** @type {string} */ path) {
  if (process.platform === 'win32') return true
  const stats = lstatSync(dirname(path), { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0
}

/** @returns {{ sessionId?: string | undefined, continues?: boolean }} */
function openedWith() {
  const argv = process.platform === 'linux' ? readFileSync('/proc/self/cmdline', 'utf8').split('\0') : process.argv
  const at = argv.findIndex((word) => /^(--session|-s|--continue|-c)(=|$)/.test(word))
  const word = argv[at] ?? ''
  if (/^(--continue|-c)/.test(word)) return { continues: true }
  return at < 0 ? {} : { sessionId: word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1] }
}
