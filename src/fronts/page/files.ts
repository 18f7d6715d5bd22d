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

// Beside `src` and `dist`, at the same depth from both.
const folder = new URL('../../../page/', import.meta.url)

/** Returns where a file of the page is, and its type; undefined: the page has no such file. */
export function pageFile(name: string): { readonly url: URL; readonly type: string } | undefined {
  if (!Object.hasOwn(types, name)) return undefined
  return { url: new URL(name, folder), type: types[name as keyof typeof types] }
}
