"""What the skill puts into a Python session. Rows are a pandas DataFrame, or anything it can be made from."""

import pandas as pd
from karst import Function


def profile(rows) -> pd.DataFrame:
    """What is in each column: its type, how many values are missing and distinct, and the range of numbers and dates."""
    frame = pd.DataFrame(rows).replace("", None)
    numbers = frame.select_dtypes("number")
    ordered = frame.select_dtypes(["number", "datetime", "datetimetz"])
    found = {
        "type": frame.dtypes.astype(str),
        "missing": frame.isna().sum(),
        "distinct": frame.nunique(),
        "min": ordered.min().astype(object),
        "median": numbers.median(),
        "max": ordered.max().astype(object),
        "mean": numbers.mean(),
    }
    return pd.DataFrame(found, index=frame.columns)


def outliers(rows, column: str) -> pd.DataFrame:
    """The rows whose number in a column is more than 1.5 interquartile ranges beyond the quartiles."""
    frame = checked(rows, column)
    low, high = frame[column].quantile([0.25, 0.75])
    reach = 1.5 * (high - low)
    return frame[(frame[column] < low - reach) | (frame[column] > high + reach)]


def group_by(rows, key: str, column: str) -> pd.DataFrame:
    """Count, sum, mean and median of a column for each value of the key, the largest sum first."""
    groups = checked(rows, key, column).groupby(key, dropna=False)[column]
    return groups.agg(["count", "sum", "mean", "median"]).sort_values("sum", ascending=False)


def correlation(rows, x: str, y: str) -> float:
    """Pearson's correlation of two columns of numbers, over the rows that have both."""
    frame = checked(rows, x, y)
    return float(frame[x].corr(frame[y]))


def checked(rows, *columns):
    frame = pd.DataFrame(rows)
    for column in columns:
        if column not in frame.columns:
            raise KeyError(f"There is no column {column!r}. There is {', '.join(map(str, frame.columns))}.")
    return frame


__exports__ = [Function(profile), Function(outliers), Function(group_by), Function(correlation)]
