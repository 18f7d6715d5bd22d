import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Mutant, mutants } from './mutants.ts'

const root = resolve(import.meta.dirname, '../..')

/** Copies the sources and the simulation, with a fault in them. Whoever calls it removes the copy. */
function copyWith({ name, file, changes }: Mutant): string {
  const copy = mkdtempSync(join(tmpdir(), 'rouse-mutant-'))
  for (const folder of ['src', 'test/simulation', 'test/support']) {
    cpSync(join(root, folder), join(copy, folder), { recursive: true })
  }
  for (const one of ['node_modules', 'drizzle', 'package.json', 'tsconfig.json'])
    symlinkSync(join(root, one), join(copy, one))
  const path = join(copy, 'src', file)
  for (const [is, becomes] of changes) {
    const parts = readFileSync(path, 'utf8').split(is)
    if (parts.length !== 2) throw new Error(`${name}: ${file} has not one "${is}".`)
    writeFileSync(path, parts.join(becomes))
  }
  return copy
}

/** Plays histories on a mutant for as many minutes of the processor at most. Returns what was found, and when. */
async function find(one: Mutant, minutes: string): Promise<string> {
  const copy = copyWith(one)
  try {
    const script = join(copy, 'test/simulation/run.ts')
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', script, '--first', '--minutes', minutes, '--seed', 'mutant'],
      {
        cwd: copy,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    await new Promise((done) => child.once('close', done))
    return /Found after (.*)/.exec(said)?.[1] ?? `not found: ${said.trim().split('\n').slice(-3).join(' ')}`
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const [minutes = '1', first = '0', ...words] = process.argv.slice(2)
const wanted = mutants.slice(Number(first)).filter(({ name }) => words.every((word) => name.includes(word)))
for (const one of wanted) console.log(`| ${one.name} | ${await find(one, minutes)} |`)
