import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Engine } from './simulation.ts'

/** A fault: in which file which text is replaced by which. */
export type Fault = readonly [file: string, is: string, becomes: string]

const src = resolve(import.meta.dirname, '../../src')
const rooms = ['turns', 'recovery']

/** Loads the pure part of recovery with a fault in it, from a copy beside the sources that is removed at once. */
export async function mutantOf([file, is, becomes]: Fault): Promise<Engine> {
  const copy = mkdtempSync(join(src, '../node_modules/.mutant-'))
  try {
    for (const room of rooms) cpSync(join(src, room), join(copy, room), { recursive: true })
    for (const room of rooms) for (const name of readdirSync(join(copy, room))) point(join(copy, room, name))
    const text = readFileSync(join(copy, file), 'utf8')
    if (text.split(is).length !== 2) throw new Error(`${file} has not one "${is}".`)
    writeFileSync(join(copy, file), text.replace(is, becomes))
    const load = (name: string) => import(pathToFileURL(join(copy, 'recovery', name)).href)
    const [{ isStale }, { step }] = await Promise.all([load('decide.ts'), load('step.ts')])
    return { isStale, step }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Has a copied file import the other rooms from where they are. */
function point(path: string): void {
  const text = readFileSync(path, 'utf8')
  const others = text.replace(/from '\.\.\/(?!turns\/|recovery\/)/g, `from '${src}/`)
  writeFileSync(path, others)
}
