import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { built, fromBuild } from './test/support/from-build.ts'
import { workerRun } from './test/support/short-run.ts'

// Kills, full disks and lying receivers take minutes, and so do attackers and programs of other vendors: npm run test:faults,
// npm run test:misuse, npm run test:harnesses. A browser takes
// long too: npm run test:page.
const exclude = ['test/faults/**', 'test/misuse/**', 'test/real-harnesses/**', 'test/page/**', '**/node_modules/**']

/** Of PostgreSQL in each run: what is about its statements, its locks, and several gateways. */
const core = [
  'test/storage/{as-call,counted-once,database,statements,stored-instants}.test.ts',
  'test/storage/postgres/**/*.test.ts',
  'test/gateways/**/*.test.ts',
  'test/tasks/**/*.test.ts',
  // Attacks whose cost, or whose limit, is in the store.
  'test/rest/{hostile-shapes,repeats,words}.test.ts',
  'test/a2a/{message-limits,revocation,send-limits}.test.ts',
  'test/registry/{names,shares,usage}.test.ts',
  'test/fronts/unread-streams.test.ts',
  'test/grpc/stored-halves.test.ts',
  'test/{audit,redaction}/**/*.test.ts',
  // After a crash the leases of the dead gateway are kept for 20 s, so of the crashes there are two.
  'test/process/{mail-*,crash-before-delivery,crash-during-digest}.test.ts',
  // Agents with many runs are left out of leasing, and failures in a row are rows.
  'test/webhooks/outbound.test.ts',
  'test/{approvals,claims,cluster,following,identity,log,mailbox,needs,push,recovery,subscriptions,wakes}/**/*.test.ts',
]

/** With `npm run test:postgres` also what does the same on both stores, as far as anybody knows. */
const further = [
  // Of the command line: what reads or changes a store. Texts, flags and stubs are the same on both.
  'test/cli/{agent-remove,audit,keys,mail,project-limits,sessions,sub-changes,team,waiting-mail,who}.test.ts',
  'test/cli/{ids/own-ids,options/text-input,team/apply,team/prune}.test.ts',
  'test/grpc/{access,calls,connections,large-messages,late-messages,lifecycle,limits}.test.ts',
  // A stream that nobody reads loads its events from the store; a compressed body is refused before anything is read there.
  'test/fronts/{content-at-once,counted-streams,outage,unsendable-answer}.test.ts',
  'test/fronts/mcp/http/{large-reads,sessions,wakes}.test.ts',
  'test/{a2a,access,contract,registry,rest,sessions,wake-stream}/**/*.test.ts',
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
