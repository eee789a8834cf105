"""The same small shop in the words of six more ORMs, and what rules say about one more file of it."""

from collections.abc import Mapping
from datetime import date

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.model import Finding, Volume
from analysis.engine.policy import Policy

TYPEORM = {
    "src/entities.ts": """
import { Entity, Column, PrimaryGeneratedColumn, ManyToOne, OneToMany, Index } from 'typeorm';

@Entity('customers')
export class Customer {
  @PrimaryGeneratedColumn() id: number;
  @Column({ unique: true }) email: string;
}

@Entity('orders')
@Index(['customerId', 'createdAt'])
export class Order {
  @PrimaryGeneratedColumn() id: number;
  @Column() customerId: number;
  @Column() reference: string;
  @Column() isPaid: boolean;
  @Column() total: number;
  @Column() createdAt: Date;
  @ManyToOne(() => Customer) customer: Promise<Customer>;
  @OneToMany(() => Line, (line) => line.order) lines: Line[];
}

@Entity('lines')
export class Line {
  @PrimaryGeneratedColumn() id: number;
  @Column() amount: number;
  @ManyToOne(() => Order, (order) => order.lines) order: Order;
}
"""
}
SEQUELIZE = {
    "src/models.js": """
const { DataTypes } = require('sequelize');
module.exports = (sequelize) => {
  const Customer = sequelize.define('Customer', { email: { type: DataTypes.STRING, unique: true } });
  const Order = sequelize.define('Order', {
    reference: DataTypes.STRING, isPaid: DataTypes.BOOLEAN, total: DataTypes.INTEGER, customerId: DataTypes.INTEGER,
  }, { tableName: 'orders', indexes: [{ fields: ['customerId'] }] });
  const Line = sequelize.define('Line', { amount: DataTypes.INTEGER });
  Order.belongsTo(Customer, { as: 'customer' });
  Order.hasMany(Line, { as: 'lines', onDelete: 'CASCADE' });
};
"""
}
MONGOOSE = {
    "src/models.js": """
const mongoose = require('mongoose');
const customerSchema = new mongoose.Schema({ email: { type: String, unique: true } });
const orderSchema = new mongoose.Schema({
  reference: String, isPaid: Boolean, total: Number, note: String,
  customer: { type: mongoose.Types.ObjectId, ref: 'Customer', index: true },
}, { timestamps: true });
orderSchema.index({ note: 'text' });
const lineSchema = new mongoose.Schema({ amount: Number, order: { type: mongoose.Types.ObjectId, ref: 'Order' } });
module.exports = {
  Customer: mongoose.model('Customer', customerSchema),
  Order: mongoose.model('Order', orderSchema),
  Line: mongoose.model('Line', lineSchema),
};
"""
}
DRIZZLE = {
    "src/schema.ts": """
import { relations } from 'drizzle-orm';
import { boolean, index, integer, pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core';

export const customers = pgTable('customers', { id: serial().primaryKey(), email: text().notNull().unique() });
export const orders = pgTable('orders', {
  id: serial().primaryKey(),
  customerId: integer('customer_id').references(() => customers.id),
  reference: text(),
  isPaid: boolean('is_paid'),
  total: integer(),
  createdAt: timestamp('created_at', { withTimezone: true }),
}, (t) => [index('orders_customer').on(t.customerId, t.createdAt)]);
export const lines = pgTable('lines', {
  id: serial().primaryKey(),
  amount: integer(),
  orderId: integer('order_id').references(() => orders.id, { onDelete: 'cascade' }),
});
export const orderRelations = relations(orders, ({ one, many }) => ({
  customer: one(customers, { fields: [orders.customerId], references: [customers.id] }),
  lines: many(lines),
}));
"""
}
JPA = {
    "src/main/java/shop/Order.java": """
package shop;
import jakarta.persistence.*;

@Entity
@Table(name = "orders", indexes = @Index(columnList = "customer_id"))
public class Order {
    @Id private Long id;
    private String reference;
    private boolean paid;
    private int total;
    @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "customer_id") private Customer customer;
    @OneToMany(mappedBy = "order") private List<Line> lines;
    @OneToMany(mappedBy = "order") private List<Note> notes;
    public Customer getCustomer() { return customer; }
}
""",
    "src/main/java/shop/Customer.java": """
package shop;
import jakarta.persistence.*;

@Entity
public class Customer {
    @Id private Long id;
    @Column(unique = true) private String email;
}
""",
    "src/main/java/shop/Line.java": """
package shop;
import jakarta.persistence.*;

@Entity
public class Line {
    @Id private Long id;
    private int amount;
    @ManyToOne(fetch = FetchType.LAZY) private Order order;
}
""",
    "src/main/java/shop/OrderRepository.java": """
package shop;

public interface OrderRepository extends JpaRepository<Order, Long> {
    List<Order> findByPaid(boolean paid);
    Page<Order> findByTotalGreaterThan(int total, Pageable page);
    Optional<Order> findByReference(String reference);
    @Query("select o from Order o join fetch o.customer where o.paid = true")
    List<Order> withCustomers();
}
""",
    "src/main/java/shop/CustomerRepository.java": """
package shop;

public interface CustomerRepository extends JpaRepository<Customer, Long> {
    Optional<Customer> findByEmail(String email);
}
""",
}
GORM = {
    "shop/models.go": """
package shop

import "gorm.io/gorm"

type Customer struct {
	gorm.Model
	Email string `gorm:"uniqueIndex"`
}

type Order struct {
	gorm.Model
	CustomerID uint `gorm:"index"`
	Customer   Customer
	Reference  string
	IsPaid     bool
	Total      int
	Lines      []Line
}

type Line struct {
	gorm.Model
	OrderID uint
	Amount  int
}
"""
}
BUN = {
    "shop/models.go": """
package shop

import "github.com/uptrace/bun"

type customerRow struct {
	bun.BaseModel `bun:"table:customers"`

	ID    int64  `bun:",pk,autoincrement"`
	Email string `bun:"email,unique"`
}

type Order struct {
	bun.BaseModel `bun:"table:orders,alias:o"`

	ID         int64        `bun:",pk,autoincrement"`
	CustomerID int64        `bun:"customer_id"`
	Customer   *customerRow `bun:"rel:belongs-to,join:customer_id=id"`
	Reference  string
	IsPaid     bool
	Total      int64
}
""",
    "db/schema.sql": "CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers (id));",
}
SHOPS = {
    "typeorm": TYPEORM,
    "sequelize": SEQUELIZE,
    "mongoose": MONGOOSE,
    "drizzle": DRIZZLE,
    "jpa": JPA,
    "gorm": GORM,
    "bun": BUN,
}
FRAMES = {  # the body stands in place of the sign
    "typeorm": (
        "src/work.ts",
        "import { Repository, In, Like } from 'typeorm';\nclass Work {\n"
        "  constructor(private orders: Repository<Order>, "
        "private customers: Repository<Customer>) {}\n  async work(x, ids) {\n§\n  }\n}\n",
    ),
    "sequelize": ("src/work.js", "const { Op } = require('sequelize');\n\n\nasync function work(x, ids) {\n§\n}\n"),
    "mongoose": ("src/work.js", "const { Order } = require('./models');\n\n\nasync function work(x, ids) {\n§\n}\n"),
    "drizzle": (
        "src/work.ts",
        "import { and, eq, inArray, like, lt, sql } from 'drizzle-orm';\n"
        "import { customers, lines, orders } from './schema';\n\nexport async function work(db, x, ids) {\n§\n}\n",
    ),
    "jpa": (
        "src/main/java/shop/Work.java",
        "package shop;\nclass Work { private final OrderRepository orders; private final "
        "CustomerRepository customers;\n"
        "  EntityManager em;\n  void work(String x, List<Long> ids) {\n§\n  }\n}\n",
    ),
    "gorm": ("shop/work.go", "package shop\n\n\nfunc work(db *gorm.DB, x string, ids []uint) {\n§\n}\n"),
    "bun": (
        "shop/work.go",
        "package shop\n\n\nfunc work(ctx context.Context, db *bun.DB, x string, ids []int64) {\n§\n}\n",
    ),
}
HEADER = 4  # lines before the body


def findings(rule: str, orm: str, body: str, volumes: Mapping[str, str] | None = None) -> list[Finding]:
    """What the rule finds in the shop of this ORM when one function more has this body."""
    path, frame = FRAMES[orm]
    sources = {**SHOPS[orm], path: frame.replace("§", body)}
    files = {name: extract(source.encode(), reading_of(name)) for name, source in sources.items()}
    policy = Policy(data_volumes={name: Volume(size) for name, size in (volumes or {}).items()})
    report = evaluate(files=files, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    return [finding for finding in report.findings if finding.rule_id == rule]


def lines(rule: str, orm: str, body: str, volumes: Mapping[str, str] | None = None) -> list[int]:
    """Lines of the body, counted from 1, that the rule objects to."""
    path = FRAMES[orm][0]
    return [each.line - HEADER for each in findings(rule, orm, body, volumes) if each.file == path]
