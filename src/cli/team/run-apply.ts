import { mkdirSync } from 'node:fs'
import { exitCodes, Reported, UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { readText } from '../options/text-input.ts'
import { inWordsOf } from '../output/problem-words.ts'
import { createProgress } from '../output/progress.ts'
import { requireConsent } from '../run/consent.ts'
import { aboutStep, applySteps, makesKey, type StepResult } from './apply-steps.ts'
import { type Plan, planTeam } from './plan.ts'
import { readTeam } from './read-team.ts'
import { readTeamFile } from './read-team-file.ts'
import { isRemoval, type Step, sectionOf } from './steps.ts'
import { teamDiff } from './team-text.ts'

export interface ApplyOptions {
  readonly dryRun?: true
  readonly prune?: true
  readonly pruneAll?: true
  readonly saveKeys?: string
  readonly yes?: true
}

interface PlanContext {
  readonly plan: Plan
  readonly placeOf: (path: readonly (string | number)[]) => string
  readonly options: ApplyOptions
}

/** Names that one line lists. */
const listedMax = 10

/** Makes the team of a project what a file says. Errors: `UsageError` before anything is changed; `Reported` after a refusal. */
export async function runApply(
  io: Io,
  { gateway, print }: { gateway: GatewayClient; print: Printer },
  path: string,
  options: ApplyOptions,
): Promise<void> {
  const file = path === '-' ? 'standard input' : path
  const { team, placeOf } = readTeamFile(readText(io, { file: path, option: '<file>' }) ?? '', file)
  const plan = planTeam(await readTeam(gateway), team, (options.pruneAll ?? options.prune) === true)
  if (options.dryRun) return showPlan(io, print, file, { plan, placeOf, options })
  requireSomeLeft(plan, options)
  const keys = requireKeys(plan.steps, options.saveKeys)
  if (!options.yes) await confirmRemovals(io, plan.steps)
  const results: StepResult[] = []
  const progress = createProgress(io, { noun: 'changes', json: print.json })
  try {
    for await (const result of applySteps(gateway, plan.steps, { keys, placeOf })) {
      results.push(result)
      progress.end()
      if (!print.json) showResult(io, result)
      progress.show(results.length, plan.steps.length)
    }
  } finally {
    progress.end()
    const { kept, unchanged } = plan
    print.result({ file, results, kept, unchanged }, () => summaryText(file, plan, results))
    noteKept(print, file, plan)
    if (results.length < plan.steps.length && !print.json)
      print.note(`${results.length} of ${plan.steps.length} changes are made. Run it again for the others.`)
  }
  if (results.some(({ action }) => action === 'refused')) throw new Reported(exitCodes.refused)
}

/** Errors: those of the run, as far as they can be known before it. */
function showPlan(io: Io, print: Printer, file: string, { plan, placeOf, options }: PlanContext): void {
  const { steps, before, after, kept, unchanged } = plan
  const planned = steps.map((step) => ({ action: step.act.split(' ')[0]!, ...aboutStep(step) }))
  const refused = plan.unknown.map(({ step, agent }): StepResult => {
    const problem = { title: 'No such agent', code: 'agent-not-found', detail: `There will be no agent ${agent}.` }
    return { ...aboutStep(step), action: 'refused', place: placeOf([sectionOf(step), step.index!]), problem }
  })
  print.result({ file, dryRun: true, planned, refused, kept, unchanged }, () =>
    steps.length === 0 ? summaryText(file, plan, []) : teamDiff(before, after),
  )
  if (!print.json) for (const result of refused) showResult(io, result)
  noteKept(print, file, plan)
  requireSomeLeft(plan, options)
  if (refused.length > 0) throw new Reported(exitCodes.refused)
}

/** A list that has become empty by mistake must not remove a whole team. Errors: it would. */
function requireSomeLeft({ steps, after }: Plan, { pruneAll }: ApplyOptions): void {
  const emptied = new Set(steps.filter(isRemoval).map(sectionOf))
  const [first] = [...emptied].filter((section) => after[section].length === 0)
  if (first === undefined || pruneAll) return
  const names = steps.filter((step) => isRemoval(step) && sectionOf(step) === first).map(({ name }) => name)
  throw new UsageError(
    `No ${first} would be left: ${plain(listText(names))}. Nothing was changed. --prune-all removes them all.`,
  )
}

/** The directory for the keys that are made. Errors: keys are made, and none is named. */
function requireKeys(steps: readonly Step[], directory: string | undefined): string | undefined {
  const names = steps.filter(makesKey).map(({ name }) => name)
  if (names.length === 0) return undefined
  if (directory === undefined) {
    throw new UsageError(
      `Keys are made for ${listText(names)}, and a key is shown only once. Name a directory for them: --save-keys <directory>`,
    )
  }
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--save-keys: ${directory} cannot be made (${code}). Name another directory.`, {
      cause: error,
    })
  }
  return directory
}

async function confirmRemovals(io: Io, steps: readonly Step[]): Promise<void> {
  const names = steps
    .filter(isRemoval)
    .map(aboutStep)
    .map(({ kind, name }) => `${kind} ${name}`)
  if (names.length === 0) return
  const tasks = steps.some(({ act }) => act === 'remove agent') ? ' The open tasks of an agent are rejected.' : ''
  await requireConsent(io, `Remove ${plain(listText(names))}?${tasks}`, 'Nothing was changed.')
}

function showResult(
  io: Io,
  { action, kind, name, fields = [], place, keyFile, tasksRejected, problem }: StepResult,
): void {
  const what = `${kind} ${plain(name)}`
  if (problem !== undefined) {
    const words = inWordsOf(undefined, problem)
    const where = place === undefined ? '' : `${plain(place)}: `
    io.stderr(`${where}${paint(io, 'red', 'refused')} ${what} (${plain(problem.code)})\n  ${plain(words)}\n`)
    return
  }
  const more = [
    ...(fields.length === 0 ? [] : [`: ${fields.join(', ')}`]),
    ...(keyFile === undefined ? [] : [`, its key is in ${plain(keyFile)}`]),
    ...(tasksRejected ? [`, and ${tasksRejected} of its tasks rejected`] : []),
  ]
  io.stdout(`${action.padEnd('removed'.length)}  ${what}${more.join('')}\n`)
}

function summaryText(file: string, { steps, unchanged }: Plan, results: readonly StepResult[]): string {
  if (steps.length === 0)
    return `Nothing to change: the gateway has what ${plain(file)} says (${unchanged === 1 ? '1 entry' : `${unchanged} entries`}).\n`
  const counts = (['made', 'changed', 'removed', 'refused'] as const).flatMap((action) => {
    const count = results.filter((result) => result.action === action).length
    return count === 0 ? [] : [`${count} ${action}`]
  })
  return `${[...counts, `${unchanged} as they were`].join(', ')}.\n`
}

function noteKept(print: Printer, file: string, { kept }: Plan): void {
  if (kept.length > 0 && !print.json)
    print.note(`Not in ${plain(file)}, and kept: ${plain(listText(kept))}. --prune removes them.`)
}

const listText = (names: readonly string[]): string =>
  names.length <= listedMax
    ? names.join(', ')
    : `${names.slice(0, listedMax).join(', ')} and ${names.length - listedMax} more`
