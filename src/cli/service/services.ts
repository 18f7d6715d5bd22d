import { userInfo } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import { homeOf, type Place } from '../../harnesses/places.ts'
import { shellCommand } from '../../lib/shell-command.ts'
import { type ServiceLaunch, unitName, unitPath, unitText } from './systemd-unit.ts'

const agentLabel = 'dev.rouse.bridge'

/** How a program of the user runs in the background on one kind of system. */
export interface Service {
  /** `systemd` */
  readonly manager: string
  readonly path: string
  readonly text: string
  /** Commands that end an earlier one before a start; it may not run, so a failure is none. */
  readonly reset: readonly (readonly string[])[]
  /** Commands that make the manager read the file, and start the program. */
  readonly start: readonly (readonly string[])[]
  /** Commands that stop the program and forget it, before the file is removed. */
  readonly stop: readonly (readonly string[])[]
  /** The commands for the manager after the file was removed. */
  readonly after: readonly (readonly string[])[]
  /** Hints for the user, a sentence each. */
  readonly notes: readonly string[]
}

/** The service of the bridge on this system. Errors: the system has none that Rouse knows; what to do instead is in it. */
export function bridgeService(place: Place, launch: ServiceLaunch): Service {
  if (place.platform === 'linux') return systemdService(place, launch)
  if (place.platform === 'darwin') return launchdService(place, launch)
  const command = shellCommand(launch.words, place.platform)
  if (place.platform !== 'win32')
    throw new UsageError(`Rouse knows no services of ${place.platform}. Start: ${command}`)
  const task = `schtasks /Create /TN "Rouse bridge" /SC ONLOGON /TR "${command.replaceAll('"', '\\"')}"`
  throw new UsageError(`Rouse writes no service on Windows. Have the bridge started when you log on: ${task}`)
}

function systemdService(place: Place, launch: ServiceLaunch): Service {
  const systemctl = (...words: string[]) => ['systemctl', '--user', ...words]
  return {
    manager: 'systemd',
    path: unitPath(place),
    text: unitText(launch),
    reset: [],
    start: [systemctl('daemon-reload'), systemctl('enable', unitName), systemctl('restart', unitName)],
    stop: [systemctl('disable', '--now', unitName)],
    after: [systemctl('daemon-reload')],
    notes: [
      `Its lines: journalctl --user -u ${unitName}`,
      'It runs while you are logged in. On a machine without you at it: loginctl enable-linger',
    ],
  }
}

function launchdService(place: Place, launch: ServiceLaunch): Service {
  const domain = `gui/${userInfo().uid}`
  const path = agentPath(place)
  const stop = ['launchctl', 'bootout', `${domain}/${agentLabel}`]
  return {
    manager: 'launchd',
    path,
    text: agentText(launch),
    reset: [stop],
    start: [['launchctl', 'bootstrap', domain, path]],
    stop: [stop],
    after: [],
    notes: [`Its state: launchctl print ${domain}/${agentLabel}`],
  }
}

/** Where launchd looks for the agents of a user. */
function agentPath(place: Place): string {
  return join(homeOf(place), 'Library', 'LaunchAgents', `${agentLabel}.plist`)
}

/** The agent of the bridge: started with the user's session, and again after a failure. What it has started runs on without it. Pure. Source: launchd.plist(5). */
export function agentText({ words, env }: ServiceLaunch): string {
  const variables = Object.entries(env).map(([name, value]) => `    <key>${xml(name)}</key>\n${string(value, 4)}`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by rouse install for the bridge, and taken away by rouse uninstall. -->
<plist version="1.0">
<dict>
  <key>Label</key>
${string(agentLabel, 2)}
  <key>ProgramArguments</key>
  <array>
${words.map((word) => string(word, 4)).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`
}

function string(value: string, indent: number): string {
  return `${' '.repeat(indent)}<string>${xml(value)}</string>`
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
