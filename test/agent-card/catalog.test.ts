import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { searchCatalog } from '../../src/agent-card/catalog.ts'
import { donna } from './subject.ts'

const agents = [
  donna({ handle: '@mike', displayName: 'Mike', description: null, skills: [] }),
  donna(),
  donna({ handle: '@Zed', displayName: null, skills: [{ id: 'review', name: 'Code Review', tags: ['code'] }] }),
]
const handles = (query: Parameters<typeof searchCatalog>[1]) => searchCatalog(agents, query).map((one) => one.handle)

describe('searchCatalog', () => {
  test.each([
    [{}, ['@Zed', '@donna', '@mike']],
    [{ skill: ' ', tag: '', q: '' }, ['@Zed', '@donna', '@mike']],
    [{ skill: 'SCHEDULE' }, ['@donna']],
    [{ skill: 'code review' }, ['@Zed']],
    [{ skill: 'code' }, []],
    [{ tag: 'time' }, ['@donna']],
    [{ tag: 'tim' }, []],
    [{ q: 'SLOT calendar' }, ['@donna']],
    [{ q: 'calendar mike' }, []],
    [{ q: '@mi' }, ['@mike']],
    [{ q: 'ｒｅｖｉｅｗ' }, ['@Zed']],
    [{ tag: 'code', q: 'donna' }, []],
  ])('%j finds %j', (query, expected) => {
    expect(handles(query)).toEqual(expected)
  })

  test('the same handle in two projects is ordered by project, whatever the input order', () => {
    const twins = [donna({ project: 'blue' }), donna({ project: 'amber' })]
    const projects = (list: typeof twins) => searchCatalog(list, {}).map((one) => one.project)
    expect(projects(twins)).toEqual(['amber', 'blue'])
    expect(projects(twins.toReversed())).toEqual(['amber', 'blue'])
  })

  const word = fc.stringMatching(/^[a-zA-Z0-9]{1,6}$/)
  const subject = fc
    .record({
      handle: word,
      displayName: fc.option(word),
      description: fc.option(fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))),
      skills: fc.array(fc.record({ id: word, name: word, description: word, tags: fc.array(word, { maxLength: 2 }) }), {
        maxLength: 3,
      }),
    })
    .map(({ handle, ...rest }) => donna({ handle: `@${handle}`, ...rest }))

  const said = (agent: ReturnType<typeof donna>) => [
    ...[agent.handle, agent.displayName, agent.description].filter((text) => text !== null),
    ...agent.skills.flatMap((one) => [one.id, one.name, one.description ?? '', ...(one.tags ?? [])]),
  ]
  const contains = (agent: ReturnType<typeof donna>, one: string) =>
    said(agent).some((text) => text.toLowerCase().includes(one.toLowerCase()))

  test('an agent is found exactly when every word of q is in one of its fields', () => {
    fc.assert(
      fc.property(fc.array(subject, { maxLength: 8 }), fc.array(word, { minLength: 1, maxLength: 3 }), (all, words) => {
        const found = new Set(searchCatalog(all, { q: words.join('  ') }))
        for (const agent of all) expect(found.has(agent)).toBe(words.every((one) => contains(agent, one)))
      }),
    )
  })

  test('an agent is found by any of its own words, in any order and case', () => {
    fc.assert(
      fc.property(subject, fc.array(subject, { maxLength: 4 }), fc.nat(), (agent, others, shift) => {
        const words = said(agent).flatMap((text) => text.split(' '))
        const shifted = [...words.slice(shift % words.length), ...words.slice(0, shift % words.length)]
        expect(searchCatalog([...others, agent], { q: shifted.join(' ').toUpperCase() })).toContain(agent)
      }),
    )
  })

  test('the order of the input does not matter', () => {
    fc.assert(
      fc.property(fc.uniqueArray(subject, { selector: (one) => one.handle }), (all) => {
        expect(searchCatalog(all.toReversed(), {})).toEqual(searchCatalog(all, {}))
      }),
    )
  })
})
