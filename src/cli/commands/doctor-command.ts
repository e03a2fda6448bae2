export async function doctorCommand(): Promise<number> {
  return 0
}
