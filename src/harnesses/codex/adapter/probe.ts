import type { AdapterContext, HarnessSession, Probe } from '../../../bridge/adapter.ts'
import { ownHooks } from '../trust.ts'
import { type CodexAccess, closeAll } from './access.ts'
import { isAllowed } from './allowed.ts'
import type { AppServer } from './app-server.ts'
import { refusalOf } from './rpc/refusals.ts'
import { type Seat, sessionOf } from './sessions.ts'
import type { CodexThread } from './thread.ts'
import { openThreads, type Writers } from './writers.ts'

const closedMax = 20
const openMax = 50
const noProgram =
  'The bridge does not find codex in its PATH: start it where codex is found, or set adapters.codex.program to the path.'
const noThread = '00000000-0000-7000-8000-000000000000'

/** Looks for Codex, its servers and its conversations in the allowed directories. */
export async function probeCodex(
  access: CodexAccess,
  { directories }: Pick<AdapterContext, 'directories'>,
  signal: AbortSignal,
): Promise<Probe> {
  const { servers, remarks } = await access.listening()
  const sessions: HarnessSession[] = []
  let version = servers.map((server) => server.version).find(Boolean)
  const allowed = ({ cwd, ephemeral }: CodexThread) => !ephemeral && isAllowed(cwd, directories)
  const attempt = async (what: string, work: () => Promise<void>) => {
    if (signal.aborted) return
    await work().catch((error: Error) => remarks.push(`${what}: ${error.message}.`))
  }
  try {
    for (const server of servers) {
      await attempt('An app-server of Codex does not tell its conversations', async () => {
        const writers = server.home === undefined ? undefined : await openThreads(server.home)
        const threads = (await server.loadedThreads()).filter(allowed)
        sessions.push(...threads.map((thread) => sessionOf(thread, { kind: 'loaded' }, writers)))
      })
    }
    const { homes, program, resumeClosed } = access.settings
    for (const home of new Set([...homes, ...servers.flatMap((server) => server.home ?? [])])) {
      const listening = servers.find((server) => server.home === home)
      if (!listening && program === undefined) {
        remarks.push(noProgram)
        continue
      }
      await attempt(`Codex cannot be asked about ${home}`, async () => {
        await using own = listening ? undefined : await access.ownServer(home)
        const server = listening ?? own!
        version ??= server.version
        remarks.push(...(await featureRemarks(server, directories)))
        const known = new Set(sessions.map(({ conversationId }) => conversationId))
        const rest = await storedThreads(server, await openThreads(home), known)
        sessions.push(...seated(rest.threads.filter(allowed), rest.writers, sessions, resumeClosed))
      })
    }
  } finally {
    await closeAll(servers)
  }
  const isThere = access.settings.program !== undefined || servers.length > 0
  return { isThere, ...(version === undefined ? {} : { version }), sessions, remarks }
}

/** The threads of a home that no server has reported: the open ones, and the newest of the closed ones. */
async function storedThreads(
  server: AppServer,
  writers: Writers | undefined,
  known: ReadonlySet<string>,
): Promise<{ threads: CodexThread[]; writers: Writers | undefined }> {
  const listed = await server.storedThreads()
  const missing = [...(writers?.keys() ?? [])].filter((id) => !listed.some((thread) => thread.id === id))
  for (const id of missing.slice(0, openMax)) {
    // One that was never prompted is not on the disk.
    const thread = await server.readThread(id)
    if (thread) listed.push(thread)
  }
  return { threads: listed.filter(({ id }) => !known.has(id)), writers }
}

/** The newest closed one of a directory stands for it, where none is open there. */
function seated(
  threads: readonly CodexThread[],
  writers: Writers | undefined,
  known: readonly HarnessSession[],
  mayOpen: boolean,
): HarnessSession[] {
  const isOpen = ({ id }: CodexThread) => writers?.has(id) === true
  const taken = new Set(known.map(({ cwd }) => cwd))
  for (const { cwd } of threads.filter(isOpen)) taken.add(cwd)
  const closed = threads.filter((thread) => !isOpen(thread)).slice(0, closedMax)
  const seats = closed.map((thread): HarnessSession => {
    const isNewest = !taken.has(thread.cwd)
    taken.add(thread.cwd)
    const seat: Seat = writers ? { kind: 'closed', mayOpen: mayOpen && isNewest } : { kind: 'maybe', isNewest }
    return sessionOf(thread, seat, writers)
  })
  return [...threads.filter(isOpen).map((thread) => sessionOf(thread, { kind: 'open' }, writers)), ...seats]
}

async function featureRemarks(server: AppServer, directories: readonly string[]): Promise<string[]> {
  const remarks: string[] = []
  const refusal = await server.queued(noThread).then(() => undefined, refusalOf)
  if (refusal === 'no-such-method') {
    remarks.push(`Codex ${server.version ?? ''} has no queue of prompts: update it (npm install -g @openai/codex).`)
  }
  if (directories.length === 0) return remarks
  const hooks = await server.hooks(directories).then(ownHooks, () => undefined)
  if (hooks === undefined) return remarks
  const untrusted = hooks.filter(({ trustStatus, enabled }) => trustStatus !== 'trusted' || !enabled)
  if (hooks.length === 0) {
    remarks.push('The hooks of Rouse are not installed: no conversation says whose it is (rouse install codex).')
  } else if (untrusted.length > 0) {
    remarks.push('The hooks of Rouse are not trusted, and do not run: start codex, and review and trust them.')
  }
  return remarks
}
