import { join } from 'node:path'
import { homeOf, type Place } from '../../harnesses/places.ts'
import type { ServiceLaunch } from './systemd-unit.ts'

export const agentLabel = 'dev.rouse.bridge'

/** Where launchd looks for the agents of a user. */
export function agentPath(place: Place): string {
  return join(homeOf(place), 'Library', 'LaunchAgents', `${agentLabel}.plist`)
}

/** The agent of the bridge: started with the user's session, and again after a failure. Pure. Source: launchd.plist(5). */
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
