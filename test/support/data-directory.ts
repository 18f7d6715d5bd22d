import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of its own that goes when the test is over. */
export function dataDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'rouse-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
