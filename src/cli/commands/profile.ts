import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { type Profiles, readProfiles, writeProfiles } from '../../client/profile-file.ts'
import { table } from '../output/table.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'
import { defaultProfile } from './login.ts'

/** `rouse logout`: forgets the key of a profile. */
export function registerLogout(parent: Command, io: Io): void {
  const command = parent.command('logout').description('remove a profile with its key from this machine')
  withExamples(command, ['rouse logout', 'rouse logout --profile work'])
    .addOption(new Option('--profile <name>', 'the profile (default: $ROUSE_PROFILE, else the one in use)'))
    .addOption(jsonOption())
    .action((_options: unknown, command: Command) => {
      const options = commonOptions(command)
      const profiles = readProfiles(io)
      const name = options.profile ?? (io.env.ROUSE_PROFILE || profiles.current || defaultProfile)
      requireProfile(name, profiles)
      const byName = new Map([...profiles.byName].filter(([other]) => other !== name))
      writeProfiles({ current: profiles.current === name ? undefined : profiles.current, byName }, io.env)
      createPrinter(io, options.json === true).result(
        { profile: name, removed: true },
        () => `Profile ${name} is removed. Its key stays valid: rouse agent key rm revokes it.\n`,
      )
    })
}

/** `rouse profile …` */
export function registerProfile(parent: Command, io: Io): void {
  const profile = parent.command('profile').description('list the profiles of rouse login, and choose one')
  const list = profile.command('list').description('list the profiles; never their keys')
  withExamples(list, ['rouse profile list'])
    .addOption(jsonOption())
    .action((_options: unknown, command: Command) => {
      const { current, byName } = readProfiles(io)
      const profiles = [...byName].map(([name, { url, identity, project }]) => {
        return { name, url, identity, project: project ?? null, isCurrent: name === current }
      })
      const rows = profiles.map((one) => [one.isCurrent ? '*' : ' ', one.name, one.identity, one.url, one.project])
      const headings = ['USED', 'PROFILE', 'KEY OF', 'GATEWAY', 'PROJECT']
      const empty = 'No profiles. Make one with: rouse login'
      createPrinter(io, commonOptions(command).json === true).result({ profiles }, () =>
        table(io, headings, rows, empty),
      )
    })
  const use = profile.command('use <profile>').description('use this profile from now on')
  withExamples(use, ['rouse profile use work'])
    .addOption(jsonOption())
    .action((name: string, _options: unknown, command: Command) => {
      const profiles = readProfiles(io)
      const { url, identity } = requireProfile(name, profiles)
      writeProfiles({ ...profiles, current: name }, io.env)
      const text = () => `Commands use profile ${name} from now on: ${identity} at ${url}.\n`
      createPrinter(io, commonOptions(command).json === true).result({ profile: name, url, identity }, text)
    })
}

function requireProfile(name: string, { byName }: Profiles) {
  const profile = byName.get(name)
  if (profile) return profile
  throw new UsageError(`There is no profile "${name}". rouse profile list lists them.`)
}
