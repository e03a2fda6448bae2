// 891 passengers: 5 names are numbers, 177 ages are null, 687 cabins are missing.
export const passengers = Array.from({ length: 891 }, (_, index) => ({
  "": index,
  Name: index < 886 ? `Passenger ${index}` : index,
  Age: index < 714 ? 30.5 : null,
  ...(index < 204 && { Cabin: `C${index}` }),
  Home: { city: "Bern", zip: "3000" },
}))
