import { existsSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'
import { personKey } from '../approvals/person-key.ts'
import type { ProcessAnswer } from '../support/process-client.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'
import { startBridgeProcess } from './bridge-process.ts'
import { type Reply, startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { Terminal } from './terminal.ts'

/** The calls of a harness's model: of a command, which it asks its user about, and of a question. */
interface Calls {
  readonly run: (command: string) => Reply
  readonly question?: (question: string) => Reply
}

/** A real model takes longer than the report of the last step. */
const thinkMs = 400

/**
 * A user with a harness in a terminal, whose model does what it is told: `RUN name` makes a file, `QUESTION words` asks. And anna, who may answer
 * from elsewhere.
 */
export async function openApprovalDesk({ run, question }: Calls) {
  const office = await openOffice(() => startProcessGateway())
  const { gateway } = office
  const anna = await personKey(gateway, 'anna')
  const seen: string[] = []
  const calls = new Map<string, number>()
  const model = await startFakeModel(async ({ body }) => {
    const { text, result } = lastOrder(body)
    await new Promise((resolve) => setTimeout(resolve, thinkMs))
    if (result !== undefined) {
      seen.push(result)
      return { text: 'I see.' }
    }
    const name = /RUN (\w+)/.exec(text)?.[1]
    if (name) calls.set(name, performance.now())
    if (name) return run(`touch ${office.at('project', name)}`)
    const asked = /QUESTION (\w+)/.exec(text)?.[1]
    return asked && question ? question(`Which of ${asked}?`) : { text: 'ok' }
  })
  const terminals: Terminal[] = []
  const bridges: Awaited<ReturnType<typeof startBridgeProcess>>[] = []
  const list = async (query: string) =>
    (await gateway.call('GET', `/v1/approvals?${query}`, undefined, { key: anna })).body.approvals as ApprovalSeen[]
  const read = async (id: string): Promise<ApprovalSeen> =>
    (await gateway.call('GET', `/v1/approvals/${id}`, undefined, { key: anna })).body
  return {
    office,
    gateway,
    model,
    /** Resolves with the time at which the model has called for a file. */
    calling: async (name: string): Promise<number> =>
      (await until(
        () => calls.get(name),
        (at) => at !== undefined,
      ))!,
    /** What tools have answered, as the model got it. */
    seen,
    open: (...command: string[]): Terminal => {
      const terminal = new Terminal(command, office.at('project'), office.env)
      terminals.push(terminal)
      return terminal
    },
    configure: (harness: string, settings: object = {}) => {
      const agent = {
        profile: office.profile,
        harnesses: [harness],
        directories: [office.at('project')],
        approvals: true,
      }
      const config = { agents: [agent], adapters: { [harness]: settings } }
      office.write('.config/rouse/bridge.json', JSON.stringify(config), 0o600)
    },
    startBridge: async () => {
      const bridge = await startBridgeProcess(office)
      bridges.push(bridge)
      return bridge
    },
    /** Resolves with the only request that waits. */
    asked: async (timeoutMs?: number): Promise<ApprovalSeen> =>
      (
        await until(
          () => list('state=open'),
          ({ length }) => length === 1,
          timeoutMs,
        )
      )[0]!,
    list,
    read,
    decide: async ({ approvalId, inputHash }: ApprovalSeen, body: JsonObject): Promise<ProcessAnswer> =>
      gateway.call('POST', `/v1/approvals/${approvalId}/decision`, { inputHash, ...body }, { key: anna }),
    /** Resolves when an approval is so. */
    becomes: ({ approvalId }: ApprovalSeen, check: (approval: ApprovalSeen) => boolean, timeoutMs?: number) =>
      until(() => read(approvalId), check, timeoutMs),
    isMade: (name: string): boolean => existsSync(office.at('project', name)),
    made: (name: string) => until(() => existsSync(office.at('project', name)), Boolean),
    async [Symbol.asyncDispose]() {
      for (const terminal of terminals) await terminal[Symbol.asyncDispose]()
      for (const bridge of bridges) await bridge[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
      await office[Symbol.asyncDispose]()
    },
  }
}

interface ApprovalSeen {
  readonly approvalId: string
  readonly harness: string
  readonly inputHash: string
  readonly kind: string
  readonly tool: string
  readonly input: JsonObject
  readonly state: string
  readonly decision: { readonly answer: string; readonly by: string } | null
  readonly outcome: string | null
  readonly reason: string | null
}

/** The last order of the user, and what tools have answered since. After an interrupt an answer and the next order are one message. */
function lastOrder({ input, messages }: JsonObject): { text: string; result: string | undefined } {
  const items = [input, messages].find(Array.isArray)?.filter(isJsonObject) ?? []
  const parts = items
    .filter(({ role, type }) => role === 'user' || role === 'tool' || String(type).endsWith('_output'))
    .flatMap((item) => (item.role === 'user' && Array.isArray(item.content) ? item.content : [item]))
  const texts = parts.map((part) => JSON.stringify(part))
  const isResult = (text: string) => /"tool_result"|"role":"tool"|_output"/.test(text)
  const begin = texts.findLastIndex((text) => /(RUN|QUESTION) \w/.test(text) && !isResult(text))
  return { text: texts[begin] ?? '', result: texts.slice(begin + 1).findLast(isResult) }
}
