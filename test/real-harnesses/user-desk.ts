import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'
import { type BridgeStep, startBridgeProcess } from './bridge-process.ts'
import { answerBody, type Dialect, startMailModel, type Turn } from './mail-model.ts'
import { openOffice } from './office.ts'
import { Terminal } from './terminal.ts'

/** A program that has just been opened again takes its time. */
const answerMaxMs = 90_000

interface Message {
  readonly inReplyTo?: string
  readonly body: string
}

/**
 * A user at a machine: a gateway, `rouse bridge` and a harness in a terminal, each in a process of its own, with the files that a user
 * has; and @eve, who writes to @donna.
 */
export async function openUserDesk(dialect: Dialect) {
  const office = await openOffice(() => startProcessGateway())
  const { gateway } = office
  const eve = await gateway.addAgent('@eve')
  const model = await startMailModel(dialect)
  const terminals: Terminal[] = []
  const bridges: Awaited<ReturnType<typeof startBridgeProcess>>[] = []
  const say = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, { key: eve.key })
  const answersTo = async (messageId: string): Promise<Message[]> => {
    const { messages } = (await say('GET', '/v1/inbox?limit=100')).body as { messages: Message[] }
    return messages.filter(({ inReplyTo, body }) => inReplyTo === messageId && body === answerBody)
  }
  /** The state of all parts, as text. It helps to find a fault. */
  const lookOf = () =>
    [
      ...bridges.flatMap((bridge) => [bridge.notes(), ...bridge.steps().map(stepLine)]),
      ...model.turns.slice(-6).map(turnLine),
      ...terminals.map(screenOf),
    ].join('\n')
  return {
    office,
    gateway,
    model,
    /** Resolves when the bridge reads the wakes of @donna. */
    startBridge: async () => {
      const bridge = await startBridgeProcess(office)
      bridges.push(bridge)
      return bridge
    },
    /** Writes what `rouse bridge init` writes, with one harness. `settings`: of its adapter. `restart`: the recipe. */
    configure: (
      harness: string,
      more: { directories?: readonly string[]; settings?: object; restart?: object } = {},
    ) => {
      const { directories = [office.at('project')], settings = {}, restart } = more
      const agents = [{ profile: office.profile, harnesses: [harness], directories, restart }]
      office.write('.config/rouse/bridge.json', JSON.stringify({ agents, adapters: { [harness]: settings } }), 0o600)
    },
    open: (...command: string[]): Terminal => {
      const terminal = new Terminal(command, office.at('project'), office.env)
      terminals.push(terminal)
      return terminal
    },
    /** Mail from @eve; returns its id. */
    send: async (subject: string): Promise<string> => {
      const { status, body } = await say('POST', '/v1/messages', { to: '@donna', subject, wakePolicy: 'immediate' })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.messageId as string
    },
    /** Resolves when @eve has the answer of the model, with how many there are. */
    answered: async (messageId: string): Promise<number> => {
      const answers = until(
        () => answersTo(messageId),
        ({ length }) => length > 0,
        answerMaxMs,
      )
      return (await answers.catch((error) => Promise.reject(new Error(`${error.message}\n${lookOf()}`)))).length
    },
    /** Resolves when the sender can read that the message has come so far. */
    receipt: (messageId: string, step: string) =>
      until(
        async () => (await say('GET', `/v1/messages/${messageId}`)).body,
        ({ receipt, recipients }) => receipt === step || recipients?.[0]?.receipt === step,
      ),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]()
      for (const terminal of terminals) await terminal[Symbol.asyncDispose]()
      for (const bridge of bridges) await bridge[Symbol.asyncDispose]()
      await office[Symbol.asyncDispose]()
    },
  }
}

const stepLine = (step: BridgeStep): string => JSON.stringify(step)
const turnLine = (turn: Turn): string => JSON.stringify(turn).slice(0, 2_000)

function screenOf(terminal: Terminal): string {
  try {
    return terminal.text
  } catch {
    return '(closed)'
  }
}
