import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { filledJson } from '../../requests/words.ts'
import { type Dice, hostileTexts } from './hostile-values.ts'
import { searchOf } from './http-request.ts'
import { mutated } from './mutate.ts'
import { oddLine } from './odd-line.ts'
import { restOperations } from './rest-operations.ts'
import type { Shot } from './shot.ts'
import { type SocketForm, socketForms } from './socket-forms.ts'
import { type Frame, framesIn, opcodes } from './socket-frames.ts'
import type { World } from './world.ts'

/** Where the gateway has a WebSocket, and what a client sends on it. */
export const stream = restOperations.find(({ path }) => path === '/v1/wake-stream')!
export const report = restOperations.find(({ path }) => path === '/v1/wake-stream/receipts')!
const what = 'WebSocket'
const waitMaxMs = 5_000
/** The end of a WebSocket, as a status of HTTP: a fault of the gateway's own, or one of the client's. */
const statusOf = (code: number): number => (code === 1011 ? 500 : 400)
/** A connection that was cut without a word. */
const cut = 444

const oddHeaders = [
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Version',
  'Sec-WebSocket-Protocol',
  'Sec-WebSocket-Extensions',
  'Origin',
  'Upgrade',
  'Connection',
  'Content-Length',
  'Last-Event-ID',
  'Rouse-Project',
]

/** Opens WebSockets and sends hostile frames on them, each on a connection of its own. */
export class SocketFuzzer {
  readonly #url: string
  readonly #world: World
  readonly #dice: Dice

  constructor(url: string, world: World, dice: Dice) {
    this.#url = url
    this.#world = world
    this.#dice = dice
  }

  async fire(): Promise<Shot> {
    const form = this.#dice.pick(socketForms)(this.#json(), this.#dice)
    const search = this.#search()
    const headers = this.#headers()
    const sent = `${search} ${JSON.stringify(headers)} ${form.bytes.toString('latin1').slice(0, 400)}`
    const start = performance.now()
    const opening = this.#open(search, headers)
    if (opening === undefined) return { what, sent, status: 0, answer: '', ms: 0 }
    const { status, answer } = await opened(opening, form)
    return { what, sent, status, answer, ms: performance.now() - start }
  }

  /** Undefined: the client itself refuses to send it. */
  #open(search: string, headers: Record<string, string>): ClientRequest | undefined {
    try {
      return request(`${this.#url}${stream.path}${search}`, { headers, agent: false, timeout: waitMaxMs }).end()
    } catch {
      return undefined
    }
  }

  #search(): string {
    const right = filledJson(stream.query!, this.#world.own)
    return searchOf(this.#dice.chance(0.9) ? right : mutated(right, this.#dice, this.#world.strangers))
  }

  #headers(): Record<string, string> {
    return {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
      Authorization: `Bearer ${this.#world.mallory.key}`,
      ...(this.#dice.chance(0.1) ? { [this.#dice.pick(oddHeaders)]: oddLine(this.#dice) } : {}),
    }
  }

  #json(): Buffer {
    const dice = this.#dice
    const right = filledJson(report.body, this.#world.own)
    const json = JSON.stringify(dice.chance(0.2) ? right : mutated(right, dice, this.#world.strangers)) ?? ''
    return dice.chance(0.1) ? dice.pick(hostileTexts)(json || '{}') : Buffer.from(json)
  }
}

interface Outcome {
  readonly status: number
  readonly answer: string
}

/** Sends a form as soon as the WebSocket is open, and resolves with what came of it. */
function opened(opening: ClientRequest, form: SocketForm): Promise<Outcome> {
  return new Promise((resolve) => {
    opening.once('upgrade', (_answer, socket, head) => resolve(exchange(socket, head, form)))
    opening.once('response', (answer) => resolve(refused(answer)))
    opening.once('timeout', () => opening.destroy(new Error('no answer')))
    opening.on('error', (error) => resolve({ status: -1, answer: String(error) }))
  })
}

async function refused(answer: IncomingMessage): Promise<Outcome> {
  let text = ''
  // A request for no WebSocket has an event stream as its answer.
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
  if (isStream) answer.destroy()
  else for await (const part of answer) text += part
  return { status: answer.statusCode!, answer: `${text} ${JSON.stringify(answer.headers)}` }
}

async function exchange(socket: Duplex, head: Buffer, { bytes, until }: SocketForm): Promise<Outcome> {
  let received = head
  let status: number | undefined
  const look = (): void => {
    const frames = framesIn(received)
    const answers = frames.flatMap(answerIn)
    const end = frames.find(({ opcode }) => opcode === opcodes.close)
    if (end) status = statusOf(end.payload.length < 2 ? 1005 : end.payload.readUInt16BE())
    else if (typeof until === 'number' && answers.length >= until) status = Math.max(...answers)
    if (status !== undefined) socket.destroy()
  }
  socket.on('error', () => {})
  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part])
    look()
  })
  socket.once('end', () => socket.destroy())
  const late = setTimeout(() => {
    status ??= -1
    socket.destroy()
  }, waitMaxMs)
  if (until === 'sent') {
    status = cut
    socket.end(bytes)
  } else socket.write(bytes)
  const closed = once(socket, 'close')
  // A message that the gateway sends at once comes with its answer to the request.
  look()
  await closed
  clearTimeout(late)
  return { status: status ?? (until === 'closed' ? cut : -1), answer: received.toString('latin1') }
}

/** The status that a frame of the gateway answers a message with. */
function answerIn({ opcode, payload }: Frame): number[] {
  if (opcode !== opcodes.text) return []
  const { event, data } = JSON.parse(payload.toString()) as { event: string; data: string }
  if (event === 'receipts') return [200]
  return event === 'error' ? [Number(JSON.parse(data).status)] : []
}
