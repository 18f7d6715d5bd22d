import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { built, fromBuild } from './test/support/from-build.ts'
import { workerRun } from './test/support/short-run.ts'

// Kills, full disks and lying receivers take minutes, and so do attackers and programs of other vendors: npm run test:faults,
// npm run test:misuse, npm run test:harnesses. A browser takes
// long too: npm run test:page.
const exclude = ['test/faults/**', 'test/misuse/**', 'test/real-harnesses/**', 'test/page/**', '**/node_modules/**']

/** Of PostgreSQL in each run: its statements, locks and isolation, several gateways, and one whole way through each feature. */
const core = [
  'test/storage/{as-call,counted-once,database,statements,stored-instants}.test.ts',
  'test/storage/postgres/**/*.test.ts',
  'test/gateways/**/*.test.ts',
  // Rows that many change at once, totals of them, and pages that are read in steps.
  'test/tasks/{artifacts,expiry,list,move,read,totals,transition}.test.ts',
  'test/mailbox/{broadcast,failure-modes,inbox,long-threads,mail-waits,piggyback-and-drain,retention,stored-bytes}.test.ts',
  'test/claims/{claims,invariant,task-handoff}.test.ts',
  'test/approvals/{decide,histories}.test.ts',
  'test/log/{event-store,follow,prune-events,recent-events,restored,retention-sweeper,stored-data}.test.ts',
  // Leases of subscriptions, what is written when an event is stored and when a wake is sent, and what a stop leaves.
  'test/wakes/{coalescing,dispatcher,engine,fan-out,held,in-flight,isolation,overlaps}.test.ts',
  'test/wakes/{recorder,release-in-steps,restart,several-writers,store-failure,triggers,trim-kept}.test.ts',
  'test/subscriptions/{long-log,replay,resync,rotation,subscriptions,waiting}.test.ts',
  'test/cluster/{clock,membership,silent-bus}.test.ts',
  'test/identity/{keys,keys-at-rest,rekey,revocation,token-revocation}.test.ts',
  'test/audit/{audit,lasting,local-acts}.test.ts',
  'test/needs/{key-needs,urgency}.test.ts',
  'test/recovery/{gate,turns}.test.ts',
  'test/registry/{names,idempotency}.test.ts',
  'test/rest/repeats.test.ts',
  'test/a2a/send-limits.test.ts',
  'test/grpc/stored-halves.test.ts',
  // After a crash the leases of the dead gateway are kept for 20 s, so of the crashes there is one.
  'test/process/{mail-between-agents,crash-before-delivery}.test.ts',
]

/** With `npm run test:postgres` also what does the same on both stores, as far as anybody knows. */
const further = [
  // Of the command line: what reads or changes a store. Texts, flags and stubs are the same on both.
  'test/cli/{agent-remove,audit,keys,mail,project-limits,sessions,sub-changes,team,waiting-mail,who}.test.ts',
  'test/cli/{ids/own-ids,options/text-input,team/apply,team/prune}.test.ts',
  'test/grpc/{access,calls,connections,large-messages,late-messages,lifecycle,limits}.test.ts',
  // A stream that nobody reads loads its events from the store; a compressed body is refused before anything is read there.
  'test/fronts/{content-at-once,counted-streams,outage,unread-streams,unsendable-answer}.test.ts',
  'test/fronts/mcp/http/{large-reads,sessions,wakes}.test.ts',
  'test/process/{mail-survives,crash-during-digest}.test.ts',
  'test/webhooks/outbound.test.ts',
  'test/{a2a,access,approvals,audit,claims,cluster,contract,following,identity,log,mailbox,needs,push}/**/*.test.ts',
  'test/{recovery,redaction,registry,rest,sessions,subscriptions,tasks,wake-stream,wakes}/**/*.test.ts',
]

export default defineConfig({
  plugins: [fromBuild()],
  test: {
    server: { deps: { external: [built] } },
    // Whoever waits for something gives up before this. It is for a test that hangs, on the busiest machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // CI may share its machine with other work. A test that needs its second try is marked in the report; locally it fails.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    execArgv: workerRun,
    // A worker loads the gateway once, for all its files. What a file must leave behind it, it says to test/support/ends.ts.
    isolate: false,
    setupFiles: ['test/support/each-file.ts'],
    // Tests wait for stores, processes and deadlines as much as they work: five at a time, also on two cores.
    maxWorkers: availableParallelism() > 1 ? 5 : 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          globalSetup: ['test/support/scratch.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/storage/postgres/**', 'test/gateways/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: process.env.ROUSE_TEST_POSTGRES === 'all' ? [...core, ...further] : core,
          exclude,
          env: { ROUSE_TEST_ENGINE: 'postgres' },
          globalSetup: ['test/support/scratch.ts', 'test/support/postgres-server.ts'],
        },
      },
    ],
  },
})
