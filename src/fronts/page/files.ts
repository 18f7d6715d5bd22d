const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'
const png = 'image/png'

/** Every file of the page and its type. No other file is ever read for a request. */
const types = {
  'index.html': html,
  'style.css': style,
  'icon.svg': 'image/svg+xml',
  'icon-192.png': png,
  'icon-512.png': png,
  'manifest.webmanifest': 'application/manifest+json',
  'main.js': script,
  'api.js': script,
  'clock.js': script,
  'dialog.js': script,
  'drafts.js': script,
  'key.js': script,
  'keyboard.js': script,
  'live.js': script,
  'push.js': script,
  'router.js': script,
  'shell.js': script,
  'show.js': script,
  'sign-in.js': script,
  'subjects.js': script,
  'urgency.js': script,
  'worker.js': script,
  'vendor/lit.js': script,
  'views/agent.js': script,
  'views/agents.js': script,
  'views/answers.js': script,
  'views/approval.js': script,
  'views/claims.js': script,
  'views/deliveries.js': script,
  'views/delivery.js': script,
  'views/entry.js': script,
  'views/figures.js': script,
  'views/gone.js': script,
  'views/list.js': script,
  'views/log.js': script,
  'views/mail.js': script,
  'views/mend.js': script,
  'views/needs.js': script,
  'views/story.js': script,
  'views/task.js': script,
  'views/tasks.js': script,
  'views/thread.js': script,
  'views/write.js': script,
  'views/you.js': script,
} as const satisfies Record<string, string>

// Beside `src` and `dist`, at the same depth from both.
const folder = new URL('../../../page/', import.meta.url)

/** Returns where a file of the page is, and its type; undefined: the page has no such file. */
export function pageFile(name: string): { readonly url: URL; readonly type: string } | undefined {
  if (!Object.hasOwn(types, name)) return undefined
  return { url: new URL(name, folder), type: types[name as keyof typeof types] }
}
