/** Returns the first id that two skills of an agent have; undefined: none. A skill is found by its id. Pure. */
export function repeatedSkillId(skills: readonly { readonly id: string }[]): string | undefined {
  const seen = new Set<string>()
  return skills.find(({ id }) => seen.size === seen.add(id).size)?.id
}
