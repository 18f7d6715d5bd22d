import { existsSync, readFileSync } from 'node:fs'

/**
 * `0.1.0+1c4f6c1b`: the version in package.json, which lies two folders up both in `src` and in `dist`, and the commit that a build notes
 * in `dist` (`scripts/note-commit.mjs`). The version alone where none is known, and from the sources.
 */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const noted = new URL('../commit', import.meta.url)
  return existsSync(noted) ? `${manifest.version}+${readFileSync(noted, 'utf8').trim()}` : manifest.version
}
