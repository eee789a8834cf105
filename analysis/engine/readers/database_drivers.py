"""The drivers of databases that Python programs connect with, so that all rules know the same ones."""

CONNECTS = frozenset(
    """psycopg.connect psycopg.Connection.connect psycopg2.connect sqlite3.connect pymysql.connect MySQLdb.connect
    mysql.connector.connect mariadb.connect pyodbc.connect pymssql.connect oracledb.connect cx_Oracle.connect
    """.split()
)
AWAITED_CONNECTS = frozenset(
    "asyncpg.connect psycopg.AsyncConnection.connect aiomysql.connect oracledb.connect_async".split()
)
