import { type CodexAccess, closeAll } from './access.ts'
import type { AppServer } from './app-server.ts'
import { type CodexThread, isLoaded } from './thread.ts'
import { openThreads } from './writers.ts'

/** Where a thread is: loaded in a server, which the caller closes; else in a home. */
export type ThreadPlace =
  | { readonly kind: 'loaded'; readonly thread: CodexThread; readonly server: AppServer }
  | { readonly kind: 'stored'; readonly thread: CodexThread; readonly home: string }

/** Looks for a thread in the servers that listen, then in the homes. undefined: nowhere. Errors: `ConnectionLost`, `RpcError`. */
export async function locateThread(access: CodexAccess, threadId: string): Promise<ThreadPlace | undefined> {
  const { servers } = await access.listening()
  let kept: AppServer | undefined
  try {
    let stored: ThreadPlace | undefined
    for (const server of servers) {
      const thread = await server.readThread(threadId).catch(() => undefined)
      if (thread && isLoaded(thread.status)) {
        kept = server
        return { kind: 'loaded', thread, server }
      }
      if (thread && server.home !== undefined) stored ??= { kind: 'stored', thread, home: server.home }
    }
    return stored ?? (await inHomes(access, threadId))
  } finally {
    await closeAll(servers.filter((server) => server !== kept))
  }
}

async function inHomes(access: CodexAccess, threadId: string): Promise<ThreadPlace | undefined> {
  for (const home of access.settings.homes) {
    await using server = await access.ownServer(home)
    const thread = await server.readThread(threadId)
    if (thread) return { kind: 'stored', thread, home }
  }
  return undefined
}

/** Resolves with true when some process has a thread open; undefined: it cannot be determined. */
export async function isOpenSomewhere(home: string, threadId: string): Promise<boolean | undefined> {
  return (await openThreads(home))?.has(threadId)
}
