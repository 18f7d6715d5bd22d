import { Command } from 'commander'
import { addClientOptions, withExamples } from './client-command.ts'
import { registerAdminKey } from './commands/admin-key.ts'
import { registerAgent } from './commands/agent.ts'
import { registerAudit } from './commands/audit.ts'
import { registerCardKey } from './commands/card-key.ts'
import { registerClaim } from './commands/claim.ts'
import { registerCompletion } from './commands/completion.ts'
import { registerDemo } from './commands/demo.ts'
import { registerHealth } from './commands/health.ts'
import { registerInbox } from './commands/inbox.ts'
import { registerInstall } from './commands/install.ts'
import { registerListen } from './commands/listen.ts'
import { registerLogin } from './commands/login.ts'
import { registerMail, registerReply } from './commands/mail.ts'
import { registerMark } from './commands/mark.ts'
import { registerMigrate } from './commands/migrate.ts'
import { registerOperator } from './commands/operator.ts'
import { registerGrant, registerPermission } from './commands/permission.ts'
import { registerPresence } from './commands/presence.ts'
import { registerLogout, registerProfile } from './commands/profile.ts'
import { registerProject } from './commands/project.ts'
import { registerRekey } from './commands/rekey.ts'
import { registerSend } from './commands/send.ts'
import { registerServe } from './commands/serve.ts'
import { registerSession } from './commands/session.ts'
import { registerSub } from './commands/sub.ts'
import { registerTail } from './commands/tail.ts'
import { registerTask } from './commands/task.ts'
import { registerThread } from './commands/thread.ts'
import { registerUninstall } from './commands/uninstall.ts'
import { registerWho } from './commands/who.ts'
import { registerWhoami } from './commands/whoami.ts'
import type { Io } from './io.ts'
import { readVersion } from './version.ts'

/** The whole command line, in the order in which a newcomer needs it. */
export function buildProgram(io: Io): Command {
  const program = new Command('rouse')
    .description(
      'Rouse wakes AI agents: each gets an A2A address, a durable inbox, and a signed webhook when work arrives.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
    })
    .exitOverride()
    .showHelpAfterError('(add --help for the options and examples)')
    // Options before the command's name are common to all commands; options after it belong to the command.
    .enablePositionalOptions()
  addClientOptions(program)

  registerServe(program, io)
  registerDemo(program, io)
  registerLogin(program, io)
  registerLogout(program, io)
  registerProfile(program, io)
  registerWhoami(program, io)
  registerAgent(program, io)
  registerSend(program, io)
  registerListen(program, io)
  registerInstall(program, io)
  registerUninstall(program, io)
  registerSub(program, io)
  registerTask(program, io)
  registerMail(program, io)
  registerReply(program, io)
  registerInbox(program, io)
  registerThread(program, io)
  registerMark(program, io)
  registerWho(program, io)
  registerSession(program, io)
  registerPresence(program, io)
  registerClaim(program, io)
  registerGrant(program, io)
  registerPermission(program, io)
  registerProject(program, io)
  registerOperator(program, io)
  registerAudit(program, io)
  registerTail(program, io)
  registerHealth(program, io)
  registerCompletion(program, io)
  registerMigrate(program, io)
  registerAdminKey(program, io)
  registerCardKey(program, io)
  registerRekey(program, io)

  withExamples(program, [
    'rouse demo                                 # see it work in half a minute',
    'rouse serve                                # start the gateway',
    'rouse agent add @donna --save-key donna.key   # in another terminal: make an agent, and keep her key',
    "rouse listen --subscribe SENT_TO_ME --key-file donna.key   # wait for donna's wakes",
    'rouse send @donna "Please review PR 7"     # in a third terminal: wake her',
  ])
  return program.addHelpText('after', `\n${exitCodeHelp}`)
}

const exitCodeHelp = `Exit codes:
  0  done                      2  the command line is wrong
  1  the gateway refused       3  no gateway answered
  130  interrupted with Ctrl-C`
