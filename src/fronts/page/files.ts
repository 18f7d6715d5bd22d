import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { once } from '../../lib/once.ts'

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

/** Every file of the page and its type. No other file is ever read for a request. */
const types = {
  'index.html': html,
  'style.css': style,
  'icon.svg': 'image/svg+xml',
  'main.js': script,
  'api.js': script,
  'key.js': script,
  'live.js': script,
  'show.js': script,
  'sign-in.js': script,
  'dialog.js': script,
  'router.js': script,
  'vendor/lit.js': script,
  'views/needs.js': script,
  'views/answers.js': script,
  'views/mend.js': script,
  'views/agents.js': script,
  'views/agent.js': script,
  'views/task.js': script,
  'views/tasks.js': script,
  'views/deliveries.js': script,
  'views/thread.js': script,
  'views/write.js': script,
  'views/log.js': script,
  'views/figures.js': script,
} as const satisfies Record<string, string>

type PageFile = keyof typeof types

/** A file as it is served. The tag changes with the content. */
interface ServedFile {
  readonly body: Buffer
  readonly type: string
  readonly tag: string
}

const read = new Map<PageFile, () => Promise<ServedFile>>()

/** Returns a file of the page, read once; undefined: the page has no such file. */
export function pageFile(name: string): Promise<ServedFile> | undefined {
  if (!Object.hasOwn(types, name)) return undefined
  const known = name as PageFile
  const file = read.get(known) ?? once(() => readPageFile(known))
  read.set(known, file)
  return file()
}

// Beside `src` and `dist`, at the same depth from both.
const folder = new URL('../../../page/', import.meta.url)

async function readPageFile(name: PageFile): Promise<ServedFile> {
  const body = await readFile(new URL(name, folder))
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { body, type: types[name], tag }
}
