import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printSummary } from './ledger.ts'
import { numberFromEnv } from './random.ts'

/** Around all the files of a run: one seed for whatever is random, and the books of every test side by side at the end. */
export default function setup(): () => void {
  const seed = numberFromEnv('FAULTS_SEED', Date.now() % 1_000_000)
  const directory = mkdtempSync(join(tmpdir(), 'rouse-faults-'))
  const file = join(directory, 'ledger.jsonl')
  Object.assign(process.env, { FAULTS_SEED: String(seed), FAULTS_LEDGER: file })
  return () => {
    printSummary(file, seed)
    rmSync(directory, { recursive: true, force: true })
  }
}
