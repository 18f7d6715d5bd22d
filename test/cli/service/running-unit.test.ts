import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unitName, unitText } from '../../../src/cli/service/systemd-unit.ts'
import { bundled } from '../../bridge/bundled.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const manager = '/lib/systemd/systemd'
const controlGroups = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup']
const ofManager = controlGroups.filter((path) => existsSync(join(path, 'cgroup.procs')))
// A systemd of its own needs root, a namespace of processes and a control group.
const canRun =
  process.getuid?.() === 0 &&
  existsSync(manager) &&
  ofManager.length > 0 &&
  ['unshare', 'tmux', 'systemctl'].every((program) => spawnSync('which', [program]).status === 0) &&
  spawnSync('unshare', ['-m', '-p', '-f', '--mount-proc', 'true']).status === 0

/** Runs a manager of a user, restarts the unit once, and prints whether what the first bridge has started lives. All of it ends with the shell. */
const script = `
mount -t tmpfs none /run && mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
for group in $GROUPS_OF_TEST; do mkdir -p $group && echo $$ > $group/cgroup.procs; done
${manager} --user --log-target=null & manager=$!
until_lines() { n=0; until [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]; do n=$((n+1)); [ $n -gt 300 ] && exit 1; sleep 0.1; done; }
n=0; until systemctl --user daemon-reload 2>/dev/null; do n=$((n+1)); [ $n -gt 300 ] && exit 1; sleep 0.1; done
systemctl --user start ${unitName}; until_lines lives 1
systemctl --user restart ${unitName}; until_lines lives 2
while read -r pid; do tr '\\0' ' ' < /proc/$pid/cmdline; grep -q ${unitName} /proc/$pid/cgroup && echo '(in the service)' || echo '(beside it)'; done < started
kill $manager; wait $manager
`

test.runIf(canRun)('a restart of the service ends no harness that the bridge has started', () => {
  using scratch = dataDirectory()
  const { path } = scratch
  const units = join(path, 'systemd', 'user')
  mkdirSync(units, { recursive: true })
  const groups = ofManager.map((group) => join(group, `rouse-test-${process.pid}`))
  const env = {
    PATH: process.env.PATH!,
    HOME: path,
    XDG_CONFIG_HOME: path,
    XDG_RUNTIME_DIR: '/run/user',
    TMUX_TMPDIR: path,
    ROUSE_TEST_DIRECTORY: path,
  }
  const words = [process.execPath, bundled(join(import.meta.dirname, 'starting-bridge.ts'))]
  writeFileSync(join(units, unitName), unitText({ words, env }))
  try {
    const { stdout, stderr } = spawnSync('unshare', ['-m', '-p', '-f', '--mount-proc', 'bash', '-c', script], {
      cwd: path,
      env: { ...env, GROUPS_OF_TEST: groups.join(' ') },
      encoding: 'utf8',
    })
    expect(stdout, stderr).toBe('/bin/sleep 600 1 (in the service)\n/bin/sleep 600 1 (beside it)\n')
  } finally {
    for (const group of groups) spawnSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'])
  }
})
