// Behaves as `osascript -l JavaScript -e SCRIPT …` does, by the order beside it. It writes down its arguments.
const { appendFileSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const [language, , option, script, ...argv] = process.argv.slice(2)
if (language !== '-l' || option !== '-e' || !script.includes('function run(argv)')) process.exit(64)
appendFileSync(join(__dirname, 'calls'), `${JSON.stringify(argv)}\n`)
const { hangs, stderr, says } = JSON.parse(readFileSync(join(__dirname, 'order'), 'utf8'))[argv[0]]
if (hangs) setInterval(() => {}, 1_000)
else if (stderr) {
  process.stderr.write(`${stderr}\n`)
  process.exitCode = 1
} else process.stdout.write(typeof says === 'string' ? says : `${JSON.stringify(says)}\n`)
