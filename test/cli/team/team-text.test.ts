import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTeamFile } from '../../../src/cli/team/read-team-file.ts'
import { teamDiff, teamText } from '../../../src/cli/team/team-text.ts'
import { isStorable } from '../../../src/lib/words.ts'

const stored = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({
      unit: fc.constantFrom(...'\n\r\t :#-@\'"\\|>&*!%[]{},?~0ex\u0085\u2028\u202e\u009b\ufeff'),
      maxLength: 60,
    }),
    fc.constantFrom('no', 'null', '~', '1e3', '0o7', '2026-01-01', '<<', '=', '---', '...', 'a: b', '- a', '# a'),
  )
  .filter(isStorable)

test('every text that a gateway stores is read from the file as it was, and is nothing that a terminal obeys', () => {
  fc.assert(
    fc.property(stored, stored, stored, (description, name, concept) => {
      const team = {
        agents: [{ handle: '@donna', description, skills: [{ id: name, name, tags: [name, concept] }] }],
        subscriptions: [
          { agentIdentity: '@donna', trigger: 'SENT_TO_ME' as const, filters: { taggedConcepts: [concept] } },
        ],
        grants: [],
      }
      const text = teamText(team)
      expect(readTeamFile(text, 'team.yaml').team).toEqual(team)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    }),
    { numRuns: 500 },
  )
})

test.each([' \n', '\t\n', ' \n\n', ' ', '\n \n'])('a text of white space is read as it was: %j', (name) => {
  const team = { agents: [{ handle: '@donna', description: name, skills: [{ id: 's', name, tags: [name] }] }] }
  expect(readTeamFile(teamText(team), 'team.yaml').team.agents).toEqual(team.agents)
})

test('the same team has no difference', () => {
  const team = { agents: [{ handle: '@donna' }] }
  expect(teamDiff(team, { agents: [{ handle: '@donna' }], grants: [] })).toBe('')
  expect(teamDiff(team, { agents: [] })).toContain('-  - handle: donna\n')
})
