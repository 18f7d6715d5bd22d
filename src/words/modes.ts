/** The media types that an agent takes and gives where it names none: any. A narrower list is enforced, because its card declares it. */
export const anyMode = ['text/plain', 'application/json', '*/*']
