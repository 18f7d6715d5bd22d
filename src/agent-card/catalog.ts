import type { CardSubject } from './card.ts'

export interface CatalogQuery {
  /** The id or the name of a skill. */
  skill?: string
  tag?: string
  /** Words that must all appear in the agent's description of itself. */
  q?: string
}

type CatalogAgent = Pick<CardSubject, 'handle' | 'project' | 'displayName' | 'description' | 'skills'>

/** The agents that match every given part of the query, by handle, then project. Letter case never matters. */
export function searchCatalog<A extends CatalogAgent>(agents: readonly A[], query: CatalogQuery): A[] {
  const skill = fold(query.skill)
  const tag = fold(query.tag)
  const words = fold(query.q).split(/\s+/).filter(Boolean)
  return agents
    .filter((agent) => !skill || agent.skills.some((one) => fold(one.id) === skill || fold(one.name) === skill))
    .filter((agent) => !tag || agent.skills.some((one) => one.tags?.some((candidate) => fold(candidate) === tag)))
    .filter((agent) => words.length === 0 || hasAll(textOf(agent), words))
    .sort((a, b) => compare(a.handle, b.handle) || compare(a.project, b.project))
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}

/** One field per line, so that no word is found across the border of two fields. */
function textOf(agent: CatalogAgent): string {
  const skills = agent.skills.flatMap((one) => [one.id, one.name, one.description, ...(one.tags ?? [])])
  return [agent.handle, agent.displayName, agent.description, ...skills].map(fold).join('\n')
}

/** Folds letter case and compatibility forms, so that full-width letters and ligatures match their plain forms. */
function fold(text: string | null | undefined): string {
  return (text ?? '').normalize('NFKC').toLowerCase().trim()
}

/** By code unit, the same in every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
