import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { secretVariables } from '../../client/secret-files.ts'
import { warnOfPassword } from '../../client/secret-input.ts'
import { settingList } from '../../config/settings.ts'
import { settingOption } from '../options/setting-option.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

export function registerServe(program: Command, io: Io): void {
  const command = program
    .command('serve')
    .description('start the gateway; Ctrl-C stops it, a second Ctrl-C stops it at once')
  const flags = settingList
    .filter(({ flag }) => flag !== undefined)
    .map((setting) => ({ setting, option: settingOption(setting) }))
  for (const { option } of flags) command.addOption(option)
  command.addOption(jsonOption())
  withExamples(command, [
    'rouse serve',
    'rouse serve --port 8080 --data-dir /var/lib/rouse',
    'rouse serve --host 0.0.0.0 --public-url https://rouse.example',
  ])
    .addHelpText('after', `\n${secretsHelp}`)
    .action(async (options: Record<string, string | undefined>, command: Command) => {
      const variables: Record<string, string> = {}
      for (const { setting, option } of flags) {
        const value = options[option.attributeName()]
        if (value === undefined) continue
        variables[setting.name] = value
        if (setting.isSecret) warnOfPassword(io, option.long!, setting.name, value)
      }
      const { serve } = await import('../operator/serve.ts')
      const print = createPrinter(io, commonOptions(command).json === true)
      await serve(io, { ...io.env, ...variables }, print)
    })
}

const secretsHelp = `Secrets are read from the environment, or from the files that these variables name:
${secretVariables.map((name) => `${name}_FILE`).join(', ')}.
If ROUSE_ADMIN_KEY and ROUSE_ENCRYPTION_KEY are not given, the first start makes both keys and stores them in the data directory.`
