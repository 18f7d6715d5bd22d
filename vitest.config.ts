import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Kills, full disks and lying receivers take minutes, and so do attackers: npm run test:faults, npm run test:misuse.
const exclude = ['test/faults/**', 'test/misuse/**', '**/node_modules/**']

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // CI may share its machine with other work. A test that needs its second try is marked in the report; locally it fails.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // Tests wait for stores and processes as much as they work: two at a time on the smallest machine. More than four would
    // want more connections than the server has.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism() - 1)),
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/storage/postgres/**', 'test/gateways/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'test/storage/{database,statements}.test.ts',
            'test/storage/postgres/**/*.test.ts',
            'test/gateways/**/*.test.ts',
            'test/{a2a,access,audit,claims,cluster,identity,log,mailbox,redaction,registry,rest,sessions,subscriptions,tasks,wakes}/**/*.test.ts',
          ],
          exclude,
          env: { ROUSE_TEST_ENGINE: 'postgres' },
          globalSetup: ['test/support/postgres-server.ts'],
          // Each test begins on an empty schema, and a machine has one disk.
          testTimeout: 40_000,
        },
      },
    ],
  },
})
