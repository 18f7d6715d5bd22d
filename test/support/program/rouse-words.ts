import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freshBuild } from '../fresh-build.ts'
import { shortRun } from '../short-run.ts'

const root = resolve(import.meta.dirname, '../../..')
const sources = ['--import', join(root, 'node_modules/tsx/dist/loader.mjs'), join(root, 'src/main.ts')]
const bundleMaxMs = 100_000
const pollMs = 20

let program: readonly string[] | undefined

/**
 * The words with which `node` runs `rouse`: the flags, and the program. It is a bundle of the build where that is up to date, else the
 * sources: it does the same, and a gateway starts at half the cost.
 * @param flags of Node. Under others than the default the bundle starts more slowly.
 */
export function rouseWords(flags: readonly string[] = shortRun): string[] {
  program ??= findProgram()
  return [...flags, ...program]
}

/** The same for the files of the build, as users have them. */
export function buildWords(): string[] {
  const built = freshBuild()
  return [...shortRun, ...(built ? [built] : sources)]
}

function findProgram(): readonly string[] {
  const built = freshBuild()
  if (built === undefined) return sources
  const scratch = process.env.ROUSE_TEST_SCRATCH
  return [scratch === undefined ? built : bundleOf(built, join(scratch, 'rouse-program'))]
}

/** The bundle is made once in a run, by the first worker that needs it. The others wait for it. */
function bundleOf(built: string, directory: string): string {
  const start = join(directory, 'start.cjs')
  if (!takes(`${directory}.lock`)) {
    waitFor(start)
    return start
  }
  const made = `${directory}.new`
  mkdirSync(made)
  const script = join(import.meta.dirname, 'bundle.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, built, made, ...shortRun], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`No bundle of the build: ${stderr}`)
  renameSync(made, directory)
  return start
}

function takes(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

function waitFor(file: string): void {
  const word = new Int32Array(new SharedArrayBuffer(4))
  const giveUpAt = Date.now() + bundleMaxMs
  while (!existsSync(file)) {
    if (Date.now() > giveUpAt) throw new Error(`No bundle of the build after ${bundleMaxMs / 1000} s: ${file}`)
    Atomics.wait(word, 0, 0, pollMs)
  }
}
