import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { makeDirectory } from './processes.mjs'
import { Unavailable } from './unavailable.mjs'

let made

/** The files of a certificate for 127.0.0.1 and of its key, made once in a run. Who is to trust it has `cert` in NODE_EXTRA_CA_CERTS. */
export function certificate() {
  made ??= make()
  return made
}

function make() {
  const directory = makeDirectory('certificate')
  const files = { key: join(directory, 'key.pem'), cert: join(directory, 'cert.pem') }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.key]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const run = spawnSync('openssl', ['req', '-x509', ...key, ...subject, '-days', '2', '-out', files.cert])
  if (run.status !== 0) throw new Unavailable(`openssl made no certificate: ${run.error?.message ?? run.stderr}`)
  return files
}
