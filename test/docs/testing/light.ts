// A lamp for the programs of docs/testing.md.
export class Light {
  brightness = 100
  dim(to: number): void {
    this.brightness = to
  }
}
