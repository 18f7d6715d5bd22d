import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freshBuild } from '../support/fresh-build.ts'
import { shortRun } from '../support/short-run.ts'

const root = resolve(import.meta.dirname, '../..')

/** Programs that the README starts and that no machine of ours has. */
export const vendors = ['claude', 'codex', 'opencode']

/** The folder that a reader has after cloning and installing. */
interface FreshCopy {
  readonly directory: string
  readonly env: Record<string, string>
  /** The commands of npm and npx that a stand-in took, in order, and what a vendor's program has read last. */
  replaced(): string[]
  lastRead(program: string): string | undefined
}

/**
 * A folder with what the package has, node_modules linked and the build copied (made, where it is older than the sources), and a home
 * of its own. Stand-ins are first on PATH: `npm`, so that nothing is installed, built or tested again; `npx`, which would install
 * the folder into its cache and build it; and the vendors' programs, which write down their standard input.
 */
export function freshCopy(env: Record<string, string>): FreshCopy {
  const home = mkdtempSync(join(tmpdir(), 'rouse-readme-'))
  const directory = join(home, 'rouse')
  const bin = join(home, 'bin')
  for (const path of [directory, bin]) mkdirSync(path)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const packed = (manifest.files as string[]).filter(
    (path) => !path.startsWith('dist/') && existsSync(join(root, path)),
  )
  for (const path of ['package.json', 'package-lock.json', 'README.md', ...packed]) {
    cpSync(join(root, path), join(directory, path), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  copyBuild(join(directory, 'dist'))
  const calls = join(home, 'calls')
  program(join(bin, 'npm'), npm(manifest.scripts, calls))
  program(join(bin, 'npx'), npx(manifest.bin.rouse))
  for (const name of vendors) program(join(bin, name), vendor(join(home, name)))
  return {
    directory,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: home, LANG: 'C.UTF-8', TMPDIR: home, ...env },
    replaced: () => linesOf(calls),
    lastRead: (name) => linesOf(join(home, name)).at(-1),
  }
}

function copyBuild(target: string): void {
  const tsc = join(root, 'node_modules/.bin/tsc')
  if (freshBuild()) cpSync(join(root, 'dist'), target, { recursive: true })
  else execFileSync(tsc, ['-p', join(root, 'tsconfig.build.json'), '--outDir', target])
}

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}`)
  chmodSync(path, 0o755)
}

/** `start` and `run demo` are what package.json says they are, without the build before them. The demo takes a port that is free. */
function npm(scripts: Record<string, string>, calls: string): string {
  return `echo "npm $*" >> ${calls}
case "$*" in
  ci) test -f package-lock.json && test -d node_modules ;;
  test) test '${scripts.test}' = 'vitest run' ;;
  start) exec ${scripts.start} ;;
  'run demo') exec ${scripts.demo} --port 0 ;;
  *) echo "npm $*: no stand-in" >&2; exit 64 ;;
esac
`
}

function npx(entry: string): string {
  return `test "$1" = rouse || { echo "npx $1: no stand-in" >&2; exit 64; }
shift
exec '${process.execPath}' ${shortRun.join(' ')} ${entry} "$@"
`
}

function vendor(file: string): string {
  return `cat > ${file}.new\nmv ${file}.new ${file}\necho 'Looks good.'\n`
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
}
