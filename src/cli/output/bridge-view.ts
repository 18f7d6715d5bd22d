import type { AgentStatus, BridgeStatus, HarnessStatus } from '../../bridge/run/status.ts'
import type { Io } from '../../client/io.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { table } from './table.ts'

const textMax = 200

/** The status of a bridge for people: its agents, what holds their wakes, the harnesses, the newest wakes. */
export function bridgeText(io: Io, status: BridgeStatus): string {
  const { agents, harnesses } = status
  return [
    head(status),
    agentTable(io, agents),
    ...agents.flatMap(agentLines),
    harnessTable(io, harnesses),
    remarks(harnesses),
  ]
    .filter(Boolean)
    .join('\n')
}

function head({ isRunning, pid, startedAt, config, turnsLastMinute, maxTurnsAMinute }: BridgeStatus): string {
  const running = isRunning
    ? `The bridge runs (process ${pid}, since ${startedAt})`
    : 'No bridge runs. Start it: rouse bridge'
  return `${running}\nConfiguration: ${plain(config)}\nTurns in the last minute: ${turnsLastMinute} of ${maxTurnsAMinute}\n`
}

function agentTable(io: Io, agents: readonly AgentStatus[]): string {
  const headings = ['AGENT', 'STATE', 'WAITING', 'TURNS/H', 'HARNESSES', 'DIRECTORIES']
  const rows = agents.map(({ agent, state, held, waiting, turnsLastHour, turnsAnHour, harnesses, directories }) => {
    const count = waiting + (held ? 1 : 0)
    return [agent, state, count, `${turnsLastHour}/${turnsAnHour}`, harnesses.join(', '), directories.join(', ')]
  })
  return table(io, headings, rows, 'No agents.')
}

function restartLine({ agent, restart }: AgentStatus): string[] {
  if (restart === undefined) return []
  const { harness, provenAt, last, pid } = restart
  const recipe = provenAt
    ? `restarts ${harness} (proven ${provenAt})`
    : `its recipe for ${harness} is not proven: rouse recovery prove ${agent}`
  const act = last?.epoch === undefined ? 'proof' : `restart ${last.epoch}`
  const said = last ? `; ${act} at ${last.at}: ${last.outcome}${last.detail ? ` (${last.detail})` : ''}` : ''
  return [`${agent}: ${recipe}${said}${pid ? `; process ${pid} runs` : ''}`]
}

function agentLines(status: AgentStatus): string[] {
  const { agent, reason, parked, held, last } = status
  const lines = [
    ...(reason ? [`${agent}: ${reason}`] : []),
    ...restartLine(status),
    ...(parked ? [`${agent}: parked: ${parked}`] : []),
    ...(held
      ? [
          `${agent}: ${held.wakeId} is held since ${held.since}: ${held.reason}${held.givenUpAt ? `; given up at ${held.givenUpAt}` : ''}`,
        ]
      : []),
    ...last.map(({ wakeId, from, step, detail, harness, conversationId, at }) => {
      const where = harness === undefined ? '' : ` → ${harness} ${conversationId}`
      return `${agent}: ${at} ${wakeId}${from ? ` from ${from}` : ''}${where}: ${step}${detail ? ` (${detail})` : ''}`
    }),
  ]
  return lines.length === 0 ? [] : [`${lines.map((line) => `  ${clip(plain(line), textMax)}`).join('\n')}\n`]
}

function harnessTable(io: Io, harnesses: readonly HarnessStatus[]): string {
  const rows = harnesses.flatMap(({ title, isThere, version = '', conversations }) => {
    if (conversations.length === 0) return [[title, version, isThere ? 'no conversation' : 'not here', '', '', '']]
    return conversations.map(({ conversationId, state, route, cwd, pid }) => [
      title,
      version,
      conversationId,
      state,
      route,
      cwd ?? pid,
    ])
  })
  if (rows.length === 0) return ''
  return table(io, ['HARNESS', 'VERSION', 'CONVERSATION', 'STATE', 'ROUTE', 'DIRECTORY'], rows, '', [
    'VERSION',
    'DIRECTORY',
  ])
}

function remarks(harnesses: readonly HarnessStatus[]): string {
  const lines = harnesses.flatMap(({ title, remarks, conversations }) => [
    ...remarks.map((text) => `${title}: ${text}`),
    ...conversations.flatMap(({ conversationId, remark }) => (remark ? [`${title} ${conversationId}: ${remark}`] : [])),
  ])
  return lines.map((line) => `${plain(line)}\n`).join('')
}
