"""The scikit-learn face: `CertifiedRegressor`, `CertifiedFamily`, and their files. No mathematics here."""
