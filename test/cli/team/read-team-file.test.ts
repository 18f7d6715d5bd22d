import { expect, test } from 'vitest'
import { readTeamFile } from '../../../src/cli/team/read-team-file.ts'

const read = (text: string) => readTeamFile(text, 'team.yaml')

test('handles and addresses are read in each way that they are written, from YAML and from JSON', () => {
  const yaml = `
x-not: &known [CAN_REPLY_TO]
`
  expect(() => read(yaml)).toThrow('team.yaml:2: x-not is no field. There are agents, subscriptions, grants.')
  const { team } = read(`agents: [{ handle: Donna, aliases: ["@DD", " reviewer "] }]
grants: [{ grantor: "@donna", grantee: "Web:Mike", scope: CAN_REPLY_TO }]
subscriptions: [{ agentIdentity: donna, trigger: SENT_TO_ME, filters: { senderFilter: [boss, "web:@ines"] } }]`)
  expect(team).toEqual({
    agents: [{ handle: '@donna', aliases: ['@dd', '@reviewer'] }],
    grants: [{ grantor: '@donna', grantee: 'web:@mike', scope: 'CAN_REPLY_TO' }],
    subscriptions: [
      { agentIdentity: '@donna', trigger: 'SENT_TO_ME', filters: { senderFilter: ['@boss', 'web:@ines'] } },
    ],
  })
  expect(read(JSON.stringify(team)).team).toEqual(team)
})

test('what is written once is used twice', () => {
  const { team } = read(`agents:
  - { handle: donna, skills: &skills [{ id: review, name: Review }] }
  - { handle: mike, skills: *skills }`)
  expect(team.agents?.[1]?.skills).toEqual([{ id: 'review', name: 'Review' }])
})

test.each([
  [
    'agents:\n  - handle: donna\n    displyName: D',
    'team.yaml:3: agents[0].displyName is no field. Did you mean displayName?',
  ],
  [
    'agents:\n- handle: donna\n  skills:\n  - {id: a, name: b, tag: [c]}',
    'team.yaml:4: agents[0].skills[0].tag is no field. Did you mean tags?',
  ],
  [
    'subscriptions:\n- agentIdentity: d\n  trigger: SENT_TO_ME\n  harnessTargetMetadata:\n    signingKey: whsec_x',
    'team.yaml:5: subscriptions[0].harnessTargetMetadata.signingKey is no field. There are url',
  ],
  [
    'agents:\n  - handle: donna\n    access: secret',
    'team.yaml:3: agents[0].access is one of public, project, private.',
  ],
  ['agents:\n  - handle: donna\n    displayName: 7', 'team.yaml:3: agents[0].displayName must be a text; put numbers'],
  ['agents:\n  - displayName: D', 'team.yaml:2: agents[0].handle is missing.'],
  ['agents:\n  handle: donna', 'team.yaml:1: agents must be a list'],
  ['agents:', 'team.yaml:1: agents must be a list; [] is an empty one.'],
  ['agents:\n  - handle: ../donna', 'team.yaml:2: agents[0].handle is not a handle. Write donna or "@donna".'],
  [
    'agents:\n  - handle: @donna',
    'team.yaml:2: Plain value cannot start with reserved character @. Put the text in quotes, or leave the @ out',
  ],
  [
    'agents:\n  - handle: donna\n  - handle: "@Donna"',
    'team.yaml:3: agents[1].handle is there twice: @donna. Make one entry of both.',
  ],
  ['agents: []\nagents: []', 'team.yaml:2: Map keys must be unique'],
  ['agents: [', 'team.yaml:1: '],
  ['agents: []\n---\nagents: []', 'team.yaml:'],
  ['agents: !!js/function []', 'team.yaml:1: Unresolved tag'],
  ['- donna', 'team.yaml:1: the file must be fields with their values.'],
  ['7', 'team.yaml:1: the file must be fields with their values.'],
  ['# nothing', 'team.yaml is empty. It has agents, subscriptions, grants'],
  ['{"agents": [{"handle": "donna",\n "__proto__": {}}]}', 'team.yaml:2: agents[0].__proto__ is no field.'],
])('%j is refused with its line and the remedy', (text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('every fault is named at once, and of many the first ten', () => {
  const text = `agents:\n${Array.from({ length: 12 }, (_, n) => `  - handle: a${n}\n    colour: red\n`).join('')}`
  const lines = (error: unknown) => (error as Error).message.split('\n')
  try {
    read(text)
    expect.unreachable()
  } catch (error) {
    expect(lines(error)).toHaveLength(11)
    expect(lines(error)[1]).toMatch(/^team\.yaml:5: agents\[1\]\.colour is no field/)
    expect(lines(error).at(-1)).toBe('and 2 more')
  }
})

test('a text that grows by its aliases is refused', () => {
  const levels = Array.from({ length: 12 }, (_, n) => `  - &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`)
  expect(() => read(`agents:\n  - &a0 [x]\n${levels.join('\n')}`)).toThrow(/team\.yaml: .*alias/)
})

test('a text of thousands of levels is refused in a sentence', () => {
  expect(() => read(`agents: ${'['.repeat(50_000)}`)).toThrow('team.yaml: it is nested too deeply to be a team.')
})
