import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'

/** Adds a command to the program. */
type Register = (program: Command, io: Io) => void

/** One command of the program. Its code is loaded when it is needed: the start of a process is part of each turn of a harness. */
export interface CommandEntry {
  readonly name: string
  load(): Promise<Register>
  /** It ends with 0 whatever happens, also when its command line is wrong. */
  readonly neverFails?: true
}

/** All commands in groups, those first that a newcomer needs. */
export const commandGroups: Readonly<Record<string, readonly CommandEntry[]>> = {
  Begin: [
    { name: 'demo', load: async () => (await import('../commands/demo.ts')).registerDemo },
    { name: 'serve', load: async () => (await import('../commands/serve.ts')).registerServe },
    { name: 'login', load: async () => (await import('../commands/login.ts')).registerLogin },
    { name: 'logout', load: async () => (await import('../commands/profile.ts')).registerLogout },
    { name: 'profile', load: async () => (await import('../commands/profile.ts')).registerProfile },
    { name: 'whoami', load: async () => (await import('../commands/whoami.ts')).registerWhoami },
    { name: 'install', load: async () => (await import('../commands/install.ts')).registerInstall },
    { name: 'uninstall', load: async () => (await import('../commands/uninstall.ts')).registerUninstall },
    { name: 'doctor', load: async () => (await import('../commands/doctor.ts')).registerDoctor },
  ],
  Work: [
    { name: 'send', load: async () => (await import('../commands/send.ts')).registerSend },
    { name: 'answer', load: async () => (await import('../commands/answer.ts')).registerAnswer },
    { name: 'approve', load: async () => (await import('../commands/approve.ts')).registerApprove },
    { name: 'deny', load: async () => (await import('../commands/approve.ts')).registerDeny },
    { name: 'task', load: async () => (await import('../commands/task.ts')).registerTask },
    { name: 'inbox', load: async () => (await import('../commands/inbox.ts')).registerInbox },
    { name: 'mail', load: async () => (await import('../commands/mail.ts')).registerMail },
    { name: 'reply', load: async () => (await import('../commands/mail.ts')).registerReply },
    { name: 'thread', load: async () => (await import('../commands/thread.ts')).registerThread },
    { name: 'mark', load: async () => (await import('../commands/mark.ts')).registerMark },
    { name: 'claim', load: async () => (await import('../commands/claim.ts')).registerClaim },
  ],
  Look: [
    { name: 'status', load: async () => (await import('../commands/status.ts')).registerStatus },
    { name: 'open', load: async () => (await import('../commands/open.ts')).registerOpen },
    { name: 'needs', load: async () => (await import('../commands/needs.ts')).registerNeeds },
    { name: 'watch', load: async () => (await import('../commands/watch.ts')).registerWatch },
    { name: 'snooze', load: async () => (await import('../commands/snooze.ts')).registerSnooze },
    { name: 'who', load: async () => (await import('../commands/who.ts')).registerWho },
    { name: 'tail', load: async () => (await import('../commands/tail.ts')).registerTail },
    { name: 'audit', load: async () => (await import('../commands/audit.ts')).registerAudit },
    { name: 'health', load: async () => (await import('../commands/health.ts')).registerHealth },
  ],
  Wake: [
    { name: 'listen', load: async () => (await import('../commands/listen.ts')).registerListen },
    { name: 'bridge', load: async () => (await import('../commands/bridge.ts')).registerBridge },
    { name: 'sub', load: async () => (await import('../commands/sub.ts')).registerSub },
    { name: 'wake', load: async () => (await import('../commands/wake.ts')).registerWake },
  ],
  Harnesses: [
    { name: 'mcp', load: async () => (await import('../commands/mcp.ts')).registerMcp },
    { name: 'hook', load: async () => (await import('../commands/hook.ts')).registerHook, neverFails: true },
    { name: 'session', load: async () => (await import('../commands/session.ts')).registerSession },
    { name: 'presence', load: async () => (await import('../commands/presence.ts')).registerPresence },
  ],
  Recovery: [
    { name: 'recovery', load: async () => (await import('../commands/recovery.ts')).registerRecovery },
    { name: 'gate', load: async () => (await import('../commands/gate.ts')).registerGate },
    { name: 'heartbeat', load: async () => (await import('../commands/recovery.ts')).registerHeartbeat },
    { name: 'turns', load: async () => (await import('../commands/turns.ts')).registerTurns },
    { name: 'unpark', load: async () => (await import('../commands/recovery.ts')).registerUnpark },
  ],
  Manage: [
    { name: 'agent', load: async () => (await import('../commands/agent.ts')).registerAgent },
    { name: 'project', load: async () => (await import('../commands/project.ts')).registerProject },
    { name: 'operator', load: async () => (await import('../commands/operator.ts')).registerOperator },
    { name: 'permission', load: async () => (await import('../commands/permission.ts')).registerPermission },
    { name: 'grant', load: async () => (await import('../commands/permission.ts')).registerGrant },
    { name: 'apply', load: async () => (await import('../commands/apply.ts')).registerApply },
    { name: 'export', load: async () => (await import('../commands/export.ts')).registerExport },
    { name: 'completion', load: async () => (await import('../commands/completion.ts')).registerCompletion },
  ],
  Store: [
    { name: 'migrate', load: async () => (await import('../commands/migrate.ts')).registerMigrate },
    { name: 'admin-key', load: async () => (await import('../commands/admin-key.ts')).registerAdminKey },
    { name: 'card-key', load: async () => (await import('../commands/card-key.ts')).registerCardKey },
    { name: 'rekey', load: async () => (await import('../commands/rekey.ts')).registerRekey },
  ],
}

/** All commands, in the order of their groups. */
export const commandTable: readonly CommandEntry[] = Object.values(commandGroups).flat()

/** The command that the scripts of `rouse completion` run. No help shows it. */
const complete: CommandEntry = {
  name: 'complete',
  load: async () => (await import('../commands/complete.ts')).registerComplete,
  neverFails: true,
}

/** The heading of a command's group. */
export const groupOf = ({ name }: CommandEntry): string =>
  Object.keys(commandGroups).find((group) => commandGroups[group]!.some((one) => one.name === name)) ?? ''

/** Common options that take a value as the next word. */
const optionsWithValue = new Set(['--url', '--key-file', '--key', '--profile', '--project'])

/**
 * The commands that a command line needs: the one that it names. All of them where it names none or an unknown one, for the help and
 * for suggestions, and for `completion`, which lists them. None for the version. For `complete` also that of the line that it is about.
 * Pure.
 */
export function neededCommands(argv: readonly string[]): readonly CommandEntry[] {
  if (argv[0] === '--version' || argv[0] === '-V') return []
  const name = firstWord(argv)
  if (name === complete.name) {
    const about = firstWord(argv.slice(argv.indexOf(name) + 1).filter((word) => word !== '--'))
    return [complete, ...commandTable.filter((command) => command.name === about)]
  }
  const named = commandTable.filter((command) => command.name === name)
  return named.length === 0 || name === 'completion' ? commandTable : named
}

function firstWord(argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!
    if (!word.startsWith('-')) return word
    if (optionsWithValue.has(word)) index++
  }
  return undefined
}
