import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { UsageError } from '../../client/failure.ts'
import { closestWord } from '../../lib/nearest-names.ts'
import { fieldsAt, type Team, teamSchema } from './team.ts'

type Path = readonly PropertyKey[]

interface TeamFile {
  readonly team: Team
  /** Where something of it stands: `team.yaml:14`. */
  placeOf(path: Path): string
}

/** Faults that are named at once. */
const shownMax = 10

/**
 * Reads a team from YAML, or JSON, which is YAML too. `name` is the file's, for messages. Errors: `UsageError` with the line, the field and
 * the remedy of each fault.
 */
export function readTeamFile(text: string, name: string): TeamFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => `${name}:${lines.linePos(offset).line}`
  const flaws = [...document.errors, ...document.warnings]
  // The parser calls itself for each level.
  if (flaws.some(({ message }) => /call stack/.test(message)))
    throw new UsageError(`${name}: it is nested too deeply to be a team. Remove the inner levels.`)
  if (flaws.length > 0) throw refusal(flaws.map(({ pos, message }) => `${at(pos[0])}: ${message}${remedyFor(message)}`))
  const placeOf = (path: Path): string => at(offsetOf(document, path))
  const parsed = teamSchema.safeParse(contentOf(document, name), { reportInput: true })
  const faults = parsed.success
    ? repeatsIn(parsed.data)
    : parsed.error.issues.flatMap(({ path, ...issue }) => faultsOf(path, issue))
  if (!parsed.success || faults.length > 0)
    throw refusal(faults.map(({ path, text }) => `${placeOf(path)}: ${pathText(path)} ${text}`))
  return { team: parsed.data, placeOf }
}

function refusal(faults: readonly string[]): UsageError {
  const more = faults.length > shownMax ? [`and ${faults.length - shownMax} more`] : []
  return new UsageError([...faults.slice(0, shownMax), ...more].join('\n'))
}

const remedyFor = (message: string): string =>
  /reserved character/.test(message) ? '. Put the text in quotes, or leave the @ out' : ''

function contentOf(document: Document, name: string): unknown {
  let value: unknown
  try {
    value = document.toJS()
  } catch (error) {
    // More aliases (*name) than a person writes.
    throw new UsageError(`${name}: ${(error as Error).message}.`, { cause: error })
  }
  if (value === null || value === undefined)
    throw new UsageError(`${name} is empty. It has ${listOf(fieldsAt['']!)}: docs/team.md has an example.`)
  return value
}

interface Fault {
  readonly path: Path
  readonly text: string
}

function faultsOf(path: Path, issue: Omit<z.core.$ZodIssue, 'path'> & { readonly keys?: unknown }): Fault[] {
  if (issue.code !== 'unrecognized_keys') return [{ path, text: textOf(issue as z.core.$ZodIssue) }]
  const known = fieldsAt[path.filter((step) => typeof step !== 'number').join('.')] ?? []
  return (issue.keys as readonly string[]).map((key) => {
    const meant = closestWord(key, known)
    return {
      path: [...path, key],
      text: `is no field. ${meant ? `Did you mean ${meant}?` : `There are ${listOf(known)}.`}`,
    }
  })
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list; [] is an empty one',
  boolean: 'true or false',
  number: 'a number',
  object: 'fields with their values',
  string: 'a text; put numbers and words like true in quotes',
}

function textOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom') return issue.message
  if (issue.input === undefined) return 'is missing.'
  if (issue.code === 'invalid_value') return `is one of ${listOf(issue.values.map(String))}.`
  if (issue.code === 'invalid_type') return `must be ${typeNames[issue.expected] ?? issue.expected}.`
  return issue.message
}

/** A second entry of an agent would change what the first has said. */
function repeatsIn({ agents = [] }: Team): Fault[] {
  const seen = new Set<string>()
  return agents.flatMap(({ handle }, index) => {
    if (!seen.has(handle)) {
      seen.add(handle)
      return []
    }
    return [{ path: ['agents', index, 'handle'], text: `is there twice: ${handle}. Make one entry of both.` }]
  })
}

const listOf = (words: readonly string[]): string => words.join(', ')

function pathText(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return text.replace(/^\./, '') || 'the file'
}

/** The offset of the deepest part of a path that is there. */
function offsetOf({ contents }: Document, path: Path): number {
  let node: unknown = contents
  let offset = contents?.range?.[0] ?? 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (!pair || !isScalar(pair.key)) break
      offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step]
      if (isMap(node) || isScalar(node) || isSeq(node) || isAlias(node)) offset = node.range?.[0] ?? offset
    } else break
  }
  return offset
}
