// What to do about a member or a header cell that is no column: one sentence for all formats.

/** The message of `UnknownField`; `valueless`: inference met the name, but no value of it. */
export function unknownFieldMessage(name: string, valueless: boolean): string {
  if (valueless) {
    return `'${name}' has no value in the first 10,000 records, so it got no column; create the dataset with a schema.`
  }
  return `The dataset has no column '${name}'; say unknownFields=add to add what is in the first 10,000 records, or unknownFields=ignore to drop it.`
}
