import { defineConfig } from 'vitest/config'

/** The part that takes less than two minutes: ten kills on each engine, receivers that lie, a full disk. */
const short = ['kills', 'liars', 'disk-full'].map((name) => `test/faults/${name}.test.ts`)
const isShort = process.env.FAULTS_SHORT === '1'
if (isShort) process.env.FAULTS_KILLS ??= '10'

// One at a time: each of them loads the machine and measures what it does.
export default defineConfig({
  test: {
    include: isShort ? short : ['test/faults/**/*.test.ts'],
    globalSetup: 'test/faults/whole-run.ts',
    setupFiles: ['test/support/each-file.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
