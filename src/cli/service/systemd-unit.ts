import { join } from 'node:path'
import { type Place, xdgConfig } from '../../harnesses/places.ts'

/** How a program is started as a service. */
export interface ServiceLaunch {
  /** The program and its arguments, by absolute paths. */
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export const unitName = 'rouse-bridge.service'

/** Where systemd looks for the units of a user. */
export function unitPath(place: Place): string {
  return join(xdgConfig(place), 'systemd', 'user', unitName)
}

/**
 * The unit of the bridge. It is hardened as far as the harnesses that it may start can live with: they work in the home directory of
 * their user, speak to programs in /tmp, and write files for others. Pure. Source: systemd.service(5), systemd.exec(5).
 */
export function unitText({ words, env }: ServiceLaunch): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  return `# Written by: rouse install --bridge. Taken away by: rouse uninstall --bridge.
[Unit]
Description=Rouse bridge: hands wakes to the harnesses of this user

[Service]
Type=exec
ExecStart=${words.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
${variables.join('\n')}
Restart=on-failure
RestartSec=5
# A wrong command or configuration does not mend itself.
RestartPreventExitStatus=2
SuccessExitStatus=143
# The harnesses that it has started are in its control group, and run on without it.
KillMode=process
OOMPolicy=continue
TimeoutStopSec=20
# A program that a wake starts never gets more rights than its user has.
NoNewPrivileges=yes
RestrictRealtime=yes
LockPersonality=yes

[Install]
WantedBy=default.target
`
}

/** A word as unit files have it. Source: systemd.syntax(7), Quoting. */
function quoted(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('\n', '\\n')
  return `"${escaped}"`
}
