// Runs the bundle of `rouse` beside this file, with what V8 has compiled of it. See bundle.mjs.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { wrap } = require('node:module')
const { join } = require('node:path')
const v8 = require('node:v8')
const { Script } = require('node:vm')

const filename = join(__dirname, 'bundle.cjs')
const compiled = join(__dirname, 'bundle.compiled')
const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined
// The bundle has ASCII only: one byte for each character.
const script = new Script(wrap(readFileSync(filename, 'latin1')), { filename, cachedData })
if (process.env.ROUSE_KEEP_COMPILED) {
  // V8 takes compiled code only under the flags under which it was compiled, and a gateway changes one while it starts.
  v8.setFlagsFromString = () => {}
  process.once('exit', () => writeFileSync(compiled, script.createCachedData()))
}
script.runInThisContext()(exports, require, module, filename, __dirname)
