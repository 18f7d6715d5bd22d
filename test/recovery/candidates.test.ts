import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { nextCandidates } from '../../src/recovery/candidates.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { spyOn } from '../support/spy-reader.ts'
import { besideStore, openStore } from '../support/store.ts'

const idOf = (n: number): string => `agent_${String(n).padStart(4, '0')}`

test('recovery finds every agent that has unread mail, and no statement looks at more agents than one step', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  const agents = Array.from({ length: 130 }, (_, n) => idOf(n))
  const waiting = agents.filter((_, n) => n % 50 === 3 || n === 129)
  const rows = agents.map(
    (id) => `('${id}', 'default', '@${id}', '[]', '[]', '[]', '[]', 'project', 'silent', 1, 1, 1)`,
  )
  await besideStore(
    directory.path,
    `insert into agent (id, project_id, handle, aliases, skills, input_modes, output_modes, access, default_wake_policy, version,
      created_at, updated_at) values ${rows.join()}`,
  )
  const unread = waiting.map((id) => `('${id}', 'MESSAGE:1', 'sent', 1)`)
  await besideStore(
    directory.path,
    `insert into message_recipient (agent_id, message_id, status, updated_at) values ${unread.join()}`,
  )
  const { reader, seen } = spyOn(db)
  const found: string[] = []
  for (let more = true; more; ) {
    const page = await nextCandidates(reader, found.at(-1) ?? '', 2, 20)
    found.push(...page.map(({ id }) => id))
    more = page.length === 2
  }
  expect(found).toEqual(waiting)
  expect(seen.most).toBe(20)
})
